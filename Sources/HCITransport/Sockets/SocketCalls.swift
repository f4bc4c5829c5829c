import BluetoothPlatform
import CBluetoothHCI

/// The system calls of an open transport, so that tests can replace the kernel.
///
/// Each returns a count, or a negated error number.
struct SocketCalls: Sendable {
    var receive: @Sendable (Int32, UnsafeMutableRawBufferPointer) -> Int
    var send: @Sendable (Int32, UnsafeRawBufferPointer) -> Int
    var close: @Sendable (Int32) -> Void

    /// The kernel's calls for sockets that preserve packet boundaries. A packet longer than the buffer is reported with
    /// its real length (`MSG_TRUNC`). Writing to a closed connection is an error and not a signal (`MSG_NOSIGNAL`).
    static let packet = SocketCalls(
        receive: { answer(recv($0, $1.baseAddress, $1.count, Int32(MSG_DONTWAIT | MSG_TRUNC))) },
        send: sendWithoutSignal, close: closeDescriptor)

    /// The kernel's calls for streams. On a TCP socket `MSG_TRUNC` would discard the bytes.
    static let stream = SocketCalls(
        receive: { answer(recv($0, $1.baseAddress, $1.count, Int32(MSG_DONTWAIT))) },
        send: sendWithoutSignal, close: closeDescriptor)

    /// The kernel's calls for files.
    static let file = SocketCalls(
        receive: { answer(BluetoothPlatform.read($0, $1.baseAddress, $1.count)) },
        send: { answer(BluetoothPlatform.write($0, $1.baseAddress, $1.count)) }, close: closeDescriptor)

    private static let sendWithoutSignal: @Sendable (Int32, UnsafeRawBufferPointer) -> Int = {
        answer(BluetoothPlatform.send($0, $1.baseAddress, $1.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL)))
    }

    private static let closeDescriptor: @Sendable (Int32) -> Void = { _ = BluetoothPlatform.close($0) }

    private static func answer(_ result: Int) -> Int { result < 0 ? -Int(errno) : result }
}

/// The result of a non-blocking call.
enum Transfer {
    case bytes(Int)
    case wouldBlock
    case failed(Errno)

    /// Makes a call and repeats it if a signal interrupted it.
    @inline(__always)
    init(_ call: () -> Int) {
        while true {
            let result = call()
            if result >= 0 {
                self = .bytes(result)
                return
            }
            let error = Errno(Int32(truncatingIfNeeded: -result))
            if error.wouldBlock {
                self = .wouldBlock
                return
            }
            if error.code != EINTR {
                self = .failed(error)
                return
            }
        }
    }
}
