import BluetoothATT

/// Everything that the database stores about an attribute except its value. It holds no references, so a lookup is a
/// plain copy.
struct GATTAttribute: Equatable, Sendable {
    /// Where the value comes from: `GATTAttributeValue` without its octets.
    enum Storage: Equatable, Sendable {
        case constant
        case fixedLength
        case variableLength(maximum: UInt16)
        case dynamic
        /// Each client's configuration of the characteristic whose value is at `characteristic`.
        case clientConfiguration(characteristic: AttributeHandle, supported: GATTClientConfiguration)
        case clientSupportedFeatures
    }

    var handle: AttributeHandle
    /// The last handle of the group that a service declaration opens; for all other attributes, their own handle.
    var groupEnd: AttributeHandle
    /// The index of the attribute's type in the tables of the database.
    var type: GATTTypeIndex = 0
    var permissions: GATTPermissions
    var storage: Storage
}

/// The index of an attribute type in the tables of a database.
typealias GATTTypeIndex = UInt16
