import BluetoothBase
import BluetoothHCI

/// What the host learned about its controller while bringing it up.
public struct ControllerInformation: Equatable, Sendable {
    /// The address the host uses on the air.
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
    /// Whether the controller sends no more data than the host has room for, so that `Host.holdReceiving` has an effect
    /// (Vol 4, Part E, 4.2).
    public var controlsReceiving: Bool
}
