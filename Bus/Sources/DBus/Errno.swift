import CSystemd
import Glibc

/// Error numbers of the system.
package enum Errno {
    /// The system's text for an error number.
    package static func text(_ number: Int32) -> String { String(cString: strerror(number)) }
}
