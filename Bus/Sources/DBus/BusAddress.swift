/// Which bus to connect to.
package enum BusAddress: Hashable, Sendable, CustomStringConvertible {
    /// The system bus, or the one in `DBUS_SYSTEM_BUS_ADDRESS`.
    case system
    /// The user's bus, or the one in `DBUS_SESSION_BUS_ADDRESS`.
    case session
    /// A D-Bus address, such as `unix:path=/run/user/1000/bluetooth`.
    case address(String)

    /// Reads `system`, `session` or an address.
    package init(_ text: String) {
        switch text {
        case "system": self = .system
        case "session": self = .session
        default: self = .address(text)
        }
    }

    package var description: String {
        switch self {
        case .system: "system"
        case .session: "session"
        case .address(let address): address
        }
    }
}
