import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP
import BluetoothSMP

/// The reason why a call to the host was refused, or failed later.
@nonexhaustive
public enum HostError: Error, Equatable, Sendable {
    /// The controller is not up, or is being reset.
    case notReady
    /// The link does not exist any more.
    case noSuchLink
    /// The controller refused a command.
    case controller(HCIStatus)
    /// The controller, or the host's configuration, lacks a feature that the call needs.
    case unsupported(ControllerFeature)
    /// A limit of the host is reached, such as the number of commands, links or attempts to connect.
    case busy
    /// A value is outside the range that the specification allows.
    case invalidParameters
    /// The peer is already connected, or already being connected to.
    case alreadyConnected
    /// Every attempt ended with "connection failed to be established" (0x3E).
    case connectionFailedToBeEstablished
    /// The operation timed out.
    case timedOut
    /// The peer was connected, but did not answer in time.
    case peerNotResponding
    /// The caller cancelled the operation.
    case cancelled
    /// The controller was reset while the operation was pending.
    case controllerReset
    /// The peer refused the request.
    case refusedByPeer
    /// The GATT client refused the call.
    case client(GATTClientError)
    /// The GATT server refused the call.
    case server(GATTServerError)
    /// The host is no longer synchronized to the periodic advertising.
    case noSuchSync
    /// The link ended before the call, or while it was pending.
    case disconnected(DisconnectReason)
    /// The controller is gone.
    case adapterRemoved
    /// The peer has no attribute with this UUID.
    case notFound(BluetoothUUID)
    /// The peer's services changed while the call was pending, so earlier discovery results are invalid. No request has
    /// been sent to their handles since.
    case servicesChanged
    /// This host's database refused a change.
    case database(GATTDatabaseError)
    /// The advertising data does not fit.
    case advertisingData(AdvertisingPayloadError)
    /// The advertising data is longer than the controller supports, in octets.
    case advertisingDataTooLong(limit: Int)
    /// Pairing failed.
    case pairing(PairingError)
    /// The change to a bond could not be stored, for this reason; nil if the adapter was closed before the store
    /// answered.
    case bondNotStored(BondStoreError?)
    /// No bond with this peer exists.
    case notBonded
    /// The channel has been closed.
    case noSuchChannel
    /// A channel could not be opened.
    case channel(ChannelOpeningFailure)
    /// The limits of a channel could not be changed.
    case channelReconfiguration(ChannelReconfigurationFailure)
}

extension HostError: CustomStringConvertible {
    /// One line that states what failed, and in many cases what to do, such as "the link is gone; connect again".
    public var description: String {
        switch self {
        case .notReady: "the adapter is not ready yet"
        case .noSuchLink: "the link is gone; connect again"
        case .noSuchSync: "the periodic advertising is no longer received; synchronize again"
        case .controller(let status): "the controller refused: \(status)"
        case .unsupported(let feature): "\(feature)"
        case .busy: "too many operations are pending; wait for some of them to finish"
        case .invalidParameters: "a parameter is outside the range that the specification allows"
        case .alreadyConnected: "a connection to this peer, or an attempt to establish one, already exists"
        case .connectionFailedToBeEstablished:
            "the connection failed to be established; move closer to the peer and try again"
        case .timedOut: "timed out"
        case .peerNotResponding: "the peer was connected, and did not answer"
        case .cancelled: "cancelled"
        case .controllerReset: "the controller was reset"
        case .refusedByPeer: "the peer rejected the request"
        case .client(let error): "\(error)"
        case .server(let error): "\(error)"
        case .disconnected(let reason): "disconnected: \(reason)"
        case .adapterRemoved: "the adapter is gone; plug it in again"
        case .notFound(let uuid): "the peer has no attribute with the UUID \(uuid)"
        case .servicesChanged: "the peer's services have changed; discover them again"
        case .database(let error): "\(error)"
        case .advertisingData(let error): "\(error)"
        case .advertisingDataTooLong(let limit):
            "the controller accepts at most \(limit) octets of advertising data; advertise less"
        case .pairing(let error): "\(error)"
        case .noSuchChannel: "the channel is closed; open another one"
        case .channel(let failure): "\(failure)"
        case .channelReconfiguration(let failure): "\(failure)"
        case .bondNotStored(let cause?): "the change to the bond could not be stored: \(cause)"
        case .bondNotStored(nil): "the adapter was closed before the change to the bond was stored"
        case .notBonded: "there is no bond with this peer; pair with it first"
        }
    }
}

/// The reason why a controller could not be brought up, or is no longer used. The host does nothing more until it is
/// started again.
@nonexhaustive
public enum HostFailure: Error, Equatable, Sendable {
    /// The controller does not answer commands, not even Reset.
    case controllerNotResponding(HCIOpcode)
    /// The controller does not support Bluetooth Low Energy.
    case lowEnergyNotSupported
    /// The controller has no ACL data buffers, neither for LE nor for BR/EDR.
    case noDataBuffers
    /// The controller refused a command that the host cannot do without.
    case refused(HCIOpcode, HCIStatus)
    /// The controller repeatedly reports hardware errors, most recently with this code.
    case hardwareError(UInt8)
    /// The controller repeatedly sends malformed HCI packets.
    case malformedPacket
}

extension HostFailure: CustomStringConvertible {
    /// One line that states what is wrong with the controller and, if known, what to do about it.
    public var description: String {
        switch self {
        case .controllerNotResponding(let opcode):
            "the controller does not answer \(opcode); unplug it and plug it in again"
        case .lowEnergyNotSupported: "the controller does not support Bluetooth Low Energy; use another adapter"
        case .noDataBuffers: "the controller reports no data buffers; its firmware is broken or not loaded"
        case .refused(let opcode, let status): "the controller refused \(opcode): \(status)"
        case .hardwareError(let code):
            "the controller repeatedly reports hardware error \(code); unplug it and plug it in again"
        case .malformedPacket:
            "the controller repeatedly sends malformed HCI packets; unplug it and plug it in again"
        }
    }
}
