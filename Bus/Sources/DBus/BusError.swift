/// An error that a method call is answered with.
package struct BusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name, such as `org.bluez.Error.Failed`.
    package let name: String
    /// The text for people. Clients parse some of them.
    package let message: String

    package init(name: String, message: String) {
        self.name = name
        self.message = BusText.valid(message)
    }

    package var description: String { "\(name): \(message)" }
}

extension BusError {
    private static func standard(_ name: String, _ message: String) -> BusError {
        BusError(name: "org.freedesktop.DBus.Error." + name, message: message)
    }

    package static func unknownMethod(_ member: String, signature: String, interface: String) -> BusError {
        // libdbus ends this text with a newline, so BlueZ does too.
        standard(
            "UnknownMethod",
            "Method \"\(member)\" with signature \"\(signature)\" on interface \"\(interface)\" doesn't exist\n")
    }

    /// The error for an object that does not exist. Like libdbus, its text names the method.
    package static func unknownObject(_ member: String, signature: String, interface: String) -> BusError {
        let method = unknownMethod(member, signature: signature, interface: interface)
        return standard("UnknownObject", method.message)
    }

    package static func invalidSignature(_ message: String) -> BusError { standard("InvalidSignature", message) }
    package static func invalidArgs(_ message: String) -> BusError { standard("InvalidArgs", message) }
    package static func readOnly(_ property: String) -> BusError {
        standard("PropertyReadOnly", "Property '\(property)' is not writable")
    }
    package static func limitsExceeded(_ message: String) -> BusError { standard("LimitsExceeded", message) }
    package static let noReply = standard("NoReply", "The call ended without an answer")
    package static let disconnected = standard("Disconnected", "The connection to the bus is closed")
}

/// Why the connection to the bus cannot be used.
package enum BusFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// A call to the system failed with this `errno`.
    case system(String, errno: Int32)
    /// The bus cannot be reached.
    case unreachable(String, errno: Int32)
    /// Another program owns the name.
    case nameOwned(String, owner: String, process: Int32?)
    /// The bus does not allow this program to own the name.
    case nameRefused(String)
    /// The message contains a value that D-Bus does not allow, or is too long.
    case invalidMessage(errno: Int32)
    /// The bus closed the connection.
    case closed

    package var description: String {
        switch self {
        case .system(let action, let errno): "cannot \(action): \(Errno.text(errno))"
        case .unreachable(let address, let errno):
            "cannot connect to the bus \(address): \(Errno.text(errno)); start a bus, or set --bus"
        case .nameOwned(let name, let owner, let process):
            "\(name) is already on the bus, owned by \(owner)"
                + (process.map { " (pid \($0)). Stop it: kill \($0)" } ?? ". Stop that program")
                + ", or systemctl stop bluetooth"
        case .nameRefused(let name):
            "the bus does not allow this user to own \(name); install the policy file, or use a private bus with --bus"
        case .invalidMessage(let errno): "a message cannot be sent: \(Errno.text(errno))"
        case .closed: "the bus closed the connection"
        }
    }
}
