import CBluetoothHCI

/// The thread that asks.
public enum CurrentThread {
    /// The kernel's number for it. Unlike the result of `pthread_self`, the compiler does not take it to be the same
    /// behind a suspension, after which a task may be on another thread. Each thread asks the kernel once, so it costs no
    /// system call after that. The child of a `fork` would still see its parent's.
    public static var identifier: Int32 { cbt_thread_identifier() }

    /// Names the thread after the program. The kernel identifies the holder of an adapter by the name of the thread
    /// that opened it, and a thread otherwise inherits its name from the thread that started it.
    public static func useProgramName() {
        let program = CommandLine.arguments.first ?? ""
        cbt_name_thread(
            String(program[(program.lastIndex(of: "/").map(program.index(after:)) ?? program.startIndex)...]))
    }
}
