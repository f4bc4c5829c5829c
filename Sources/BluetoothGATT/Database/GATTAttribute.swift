import BluetoothATT

/// What the database knows about an attribute beside its value. It holds no references: a lookup is a plain copy.
struct GATTAttribute: Equatable, Sendable {
    /// Where the value comes from; `GATTAttributeValue` without its octets.
    enum Storage: Equatable, Sendable {
        case constant
        case fixedLength
        case variableLength(maximum: UInt16)
        case dynamic
        /// Each client's configuration of the characteristic with its value at `characteristic`.
        case clientConfiguration(characteristic: AttributeHandle, supported: GATTClientConfiguration)
        case clientSupportedFeatures
    }

    var handle: AttributeHandle
    /// The last handle of the group a service declaration opens; of all other attributes their own handle.
    var groupEnd: AttributeHandle
    /// Which of the database's types this attribute has.
    var type: GATTTypeIndex = 0
    var permissions: GATTPermissions
    var storage: Storage
}

/// The place of an attribute type in the tables of a database.
typealias GATTTypeIndex = UInt16
