import BluetoothBase
import BluetoothHCI

/// What the host learned about its controller while bringing it up.
public struct ControllerInformation: Hashable, Sendable {
    /// The host's identity address, which it uses on the air unless it has privacy.
    public var address: DeviceAddress
    /// The address the controller was made with; zero where it has none.
    public var publicAddress: DeviceAddress
    /// The company that made the link layer, and the version of the Core specification it follows; nil where the
    /// controller would not say.
    public var version: ReadLocalVersionInformation.ReturnParameters?
    /// Which commands the controller supports.
    public var commands: SupportedCommands
    /// Which features of the LE link layer the controller supports (Core 5.4, Vol 6, Part B, 4.6).
    public var features: LEFeatures
    /// The most bytes of ACL data in one packet to the controller.
    public var aclDataLength: Int
    /// How many ACL data packets the controller holds.
    public var aclBufferCount: Int
    /// How many addresses the filter accept list holds; 0 where the controller has none.
    public var filterAcceptListSize: Int
    /// How many bonded peers' private addresses the controller resolves by itself; 0 where it resolves none.
    public var resolvingListSize: Int
    /// Whether advertising, scanning and connecting are done by the extended commands, which a controller has all of or which are
    /// not used (Core 5.4, Vol 4, Part E, 3.1.1).
    public var usesExtendedCommands: Bool
    /// How many advertising sets it has at once; 1 without the extended commands.
    public var advertisingSetCount: Int
    /// How many octets of advertising data a set takes; 31 without the extended commands.
    public var maximumAdvertisingDataLength: Int
    /// Whether the controller sends no more data than the host has room for, so that `Host.holdReceiving` has an effect
    /// (Vol 4, Part E, 4.2).
    public var controlsReceiving: Bool
}
