import CBluetoothHCI

/// The thread that asks.
public enum CurrentThread {
    /// The kernel's thread identifier. Unlike the result of `pthread_self`, the compiler does not assume it to be the
    /// same after a suspension, when a task may be on another thread.
    public static var identifier: Int32 { cbt_thread_identifier() }

    /// Names the thread after the program. The kernel identifies the holder of an adapter by the name of the thread
    /// that opened it, and a thread otherwise inherits its name from the thread that started it.
    public static func useProgramName() {
        let program = CommandLine.arguments.first ?? ""
        cbt_name_thread(
            String(program[(program.lastIndex(of: "/").map(program.index(after:)) ?? program.startIndex)...]))
    }
}
