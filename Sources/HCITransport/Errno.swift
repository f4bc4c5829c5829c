import BluetoothPlatform
import CBluetoothHCI

/// A system error number.
package struct Errno: Error, Equatable, Sendable {
    package var code: Int32

    package init(_ code: Int32) { self.code = code }

    /// The error of the last failed call.
    package static var last: Errno { Errno(errno) }

    /// Whether a non-blocking call would have blocked.
    package var wouldBlock: Bool { code == EAGAIN || code == EWOULDBLOCK }

    /// The system's message for this error.
    package var text: String { strerror(code).map { String(cString: $0) } ?? "error \(code)" }

    /// The result of a call that returns -1 on failure. The call is repeated if a signal interrupted it.
    @discardableResult
    package static func check<Result: FixedWidthInteger>(_ call: () -> Result) throws(Errno) -> Result {
        while true {
            let result = call()
            if result != -1 { return result }
            let error = last
            if error.code != EINTR { throw error }
        }
    }
}
