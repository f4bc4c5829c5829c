import CBluetoothHCI

/// The thread that asks.
public enum CurrentThread {
    /// The kernel's number for it. Unlike the result of `pthread_self`, the compiler does not take it to be the same
    /// behind a suspension, after which a task may be on another thread.
    public static var identifier: Int32 { cbt_thread_identifier() }
}
