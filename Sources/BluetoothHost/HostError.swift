import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP
import BluetoothSMP

/// Why a call to the host was refused, or ended without its result.
public enum HostError: Error, Equatable, Sendable {
    /// The controller has not been brought up, or is being reset.
    case notReady
    /// There is no such link: it has gone.
    case noSuchLink
    /// The controller refused a command.
    case controller(HCIStatus)
    /// The controller, or the host's configuration, lacks a feature this needs.
    case unsupported(ControllerFeature)
    /// A limit of the host has been reached: commands, links or attempts to connect.
    case busy
    /// A value is outside what the specification allows.
    case invalidParameters
    /// There is a link to this peer, or an attempt to connect to it, already.
    case alreadyConnected
    /// Every try ended with "connection failed to be established" (0x3E).
    case connectionFailedToBeEstablished
    /// The time given has passed.
    case timedOut
    /// The link was made, but its peer did not answer in the time given.
    case peerNotResponding
    /// The caller called it off.
    case cancelled
    /// The controller was reset while this was pending.
    case controllerReset
    /// The peer did not agree to what it was asked.
    case refusedByPeer
    /// The GATT client refused.
    case client(GATTClientError)
    /// The GATT server refused.
    case server(GATTServerError)
    /// The periodic advertising is not received any more.
    case noSuchSync
    /// The link has ended, while the call was pending or before it.
    case disconnected(DisconnectReason)
    /// The controller is gone.
    case adapterRemoved
    /// The peer has no such attribute.
    case notFound(BluetoothUUID)
    /// The peer's services changed while the call was pending; what was discovered before is void. Nothing has been sent to
    /// handles of theirs since.
    case servicesChanged
    /// The database of this host refused a change.
    case database(GATTDatabaseError)
    /// Advertising data does not fit.
    case advertisingData(AdvertisingPayloadError)
    /// The controller takes no more than so many octets of advertising data.
    case advertisingDataTooLong(limit: Int)
    /// Pairing failed.
    case pairing(PairingError)
    /// The change of a bond could not be stored.
    case bondNotStored
    /// There is no bond with this peer.
    case notBonded
    /// The channel has been closed.
    case noSuchChannel
    /// A channel could not be opened.
    case channel(ChannelOpeningFailure)
    /// The limits of a channel could not be changed.
    case channelReconfiguration(ChannelReconfigurationFailure)
}

extension HostError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notReady: "the adapter is not ready yet"
        case .noSuchLink: "the link is gone; connect again"
        case .noSuchSync: "the periodic advertising is not received any more; synchronize again"
        case .controller(let status): "the controller refused: \(status)"
        case .unsupported(let feature): "\(feature)"
        case .busy: "too much is pending already; wait for some of it to end"
        case .invalidParameters: "a parameter is outside what the specification allows"
        case .alreadyConnected: "there is a connection to this peer, or an attempt at one, already"
        case .connectionFailedToBeEstablished:
            "the connection failed to be established; move closer to the peer and try again"
        case .timedOut: "timed out"
        case .peerNotResponding: "the peer was connected, and did not answer"
        case .cancelled: "cancelled"
        case .controllerReset: "the controller was reset"
        case .refusedByPeer: "the peer did not agree"
        case .client(let error): "\(error)"
        case .server(let error): "\(error)"
        case .disconnected(let reason): "disconnected: \(reason)"
        case .adapterRemoved: "the adapter is gone; plug it in again"
        case .notFound(let uuid): "the peer has no attribute with the UUID \(uuid)"
        case .servicesChanged: "the services of the peer have changed; discover them again"
        case .database(let error): "\(error)"
        case .advertisingData(let error): "\(error)"
        case .advertisingDataTooLong(let limit):
            "the controller takes at most \(limit) octets of advertising data; advertise less"
        case .pairing(let error): "\(error)"
        case .noSuchChannel: "the channel is closed; open another one"
        case .channel(let failure): "\(failure)"
        case .channelReconfiguration(let failure): "\(failure)"
        case .bondNotStored: "the change could not be stored; make room where bonds are kept, and try again"
        case .notBonded: "there is no bond with this peer; pair with it first"
        }
    }
}

/// Why a controller could not be brought up, or was given up. The host does nothing more after it, until it is started
/// again.
public enum HostFailure: Error, Equatable, Sendable {
    /// The controller does not answer, not even Reset.
    case controllerNotResponding(HCIOpcode)
    /// The controller is not a Bluetooth Low Energy controller.
    case lowEnergyNotSupported
    /// The controller has no buffers for ACL data, neither for LE nor for BR/EDR.
    case noDataBuffers
    /// The controller refused a command that nothing can do without.
    case refused(HCIOpcode, HCIStatus)
    /// The controller reports hardware errors again and again, with this code.
    case hardwareError(UInt8)
    /// The controller sends what is no HCI packet again and again.
    case malformedPacket
}

extension HostFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .controllerNotResponding(let opcode):
            "the controller does not answer \(opcode); unplug it and plug it in again"
        case .lowEnergyNotSupported: "the controller does not support Bluetooth Low Energy; use another adapter"
        case .noDataBuffers: "the controller reports no data buffers; its firmware is broken or not loaded"
        case .refused(let opcode, let status): "the controller refused \(opcode): \(status)"
        case .hardwareError(let code):
            "the controller reports hardware error \(code) again and again; unplug it and plug it in again"
        case .malformedPacket:
            "the controller sends what is no HCI packet again and again; unplug it and plug it in again"
        }
    }
}
