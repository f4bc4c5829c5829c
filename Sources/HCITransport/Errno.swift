import CBluetoothHCI
import Glibc

/// An error number of the system.
struct Errno: Error, Equatable, Sendable {
    var code: Int32

    init(_ code: Int32) { self.code = code }

    /// The error of the call that has just failed.
    static var last: Errno { Errno(errno) }

    /// Whether a non-blocking call would have blocked.
    var wouldBlock: Bool { code == EAGAIN || code == EWOULDBLOCK }

    /// The system's words for it.
    var text: String { strerror(code).map { String(cString: $0) } ?? "error \(code)" }

    /// The result of a call that returns -1 on failure. The call is repeated if a signal interrupted it.
    @discardableResult
    static func check<Result: FixedWidthInteger>(_ call: () -> Result) throws(Errno) -> Result {
        while true {
            let result = call()
            if result != -1 { return result }
            let error = last
            if error.code != EINTR { throw error }
        }
    }
}
