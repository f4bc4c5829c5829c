// Imported here, and not only above, so that the line below is the last thing that a build without the headers prints.
import CBluetoothHCI
// If this module cannot be built, install the headers of libbluetooth: sudo apt install libbluetooth-dev

/// The calling thread.
package enum CurrentThread {
    /// The kernel's thread ID. Unlike `pthread_self`, this is read again after a suspension point, where a task may
    /// resume on another thread: the compiler does not assume that the value stays the same. The ID is cached per
    /// thread, so only the first access makes a system call. After `fork`, the child still sees its parent's ID.
    package static var identifier: Int32 { cbt_thread_identifier() }

    /// Names the thread after the program. The kernel identifies the holder of an adapter by the name of the thread
    /// that opened it. By default a thread inherits the name of the thread that started it.
    package static func useProgramName() {
        let program = CommandLine.arguments.first ?? ""
        cbt_name_thread(
            String(program[(program.lastIndex(of: "/").map(program.index(after:)) ?? program.startIndex)...]))
    }
}
