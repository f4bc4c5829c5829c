import BluetoothBase
import BluetoothHCI

/// What the host learned about its controller during bring-up.
public struct ControllerInformation: Hashable, Sendable {
    /// The host's identity address. The host uses it on the air unless privacy is enabled.
    public var address: DeviceAddress
    /// The controller's public device address; zero if it has none.
    public var publicAddress: DeviceAddress
    /// The manufacturer of the controller, and the version of the Core specification that it implements; nil if the
    /// controller did not report it.
    public var version: ReadLocalVersionInformation.ReturnParameters?
    /// The commands that the controller supports.
    public var commands: SupportedCommands
    /// The features of the LE link layer that the controller supports (Core 5.4, Vol 6, Part B, 4.6).
    public var features: LEFeatures
    /// The maximum length of the data in an ACL packet to the controller, in octets.
    public var aclDataLength: Int
    /// The number of ACL data packets that the controller can hold.
    public var aclBufferCount: Int
    /// The size of the filter accept list; 0 if the controller has none.
    public var filterAcceptListSize: Int
    /// The size of the resolving list: the number of bonded peers whose private addresses the controller resolves. 0 if
    /// it resolves none.
    public var resolvingListSize: Int
    /// Whether the host uses the extended commands for advertising, scanning and connecting. It uses them only if the
    /// controller supports all of them (Core 5.4, Vol 4, Part E, 3.1.1).
    public var usesExtendedCommands: Bool
    /// The maximum number of simultaneous advertising sets; 1 without the extended commands.
    public var advertisingSetCount: Int
    /// The maximum length of a set's advertising data, in octets; 31 without the extended commands.
    public var maximumAdvertisingDataLength: Int
    /// Whether the controller limits the data that it sends to the room at the host, so that `Host.holdReceiving` has
    /// an effect (Vol 4, Part E, 4.2).
    public var controlsReceiving: Bool
}
