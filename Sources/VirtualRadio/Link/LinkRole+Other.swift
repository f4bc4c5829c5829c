import BluetoothBase
import BluetoothHCI

extension LinkRole {
    /// The role of the device at the other end.
    var other: LinkRole {
        switch self {
        case .central: .peripheral
        case .peripheral: .central
        }
    }

    /// The role, as in HCI events.
    var connectionRole: ConnectionRole { ConnectionRole(rawValue: rawValue) }
}
