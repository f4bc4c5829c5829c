import BluetoothBase
import CoreBluetooth
import Foundation

/// A request of a central, as a `VirtualPeripheral` receives it: one packet of the Attribute Protocol.
public struct VirtualRequest: Sendable {
    /// The kind of a request.
    public enum Kind: Hashable, Sendable, CaseIterable {
        /// Find services.
        case discoverServices
        /// Find the included services of a service.
        case discoverIncludedServices
        /// Find the characteristics of a service.
        case discoverCharacteristics
        /// Find the descriptors of a characteristic.
        case discoverDescriptors
        /// Read a value, or the part of a long value from `offset` on.
        case read
        /// Write a value with a response, or the part of a long value at `offset`.
        case write
        /// Write a value without a response.
        case writeWithoutResponse
        /// Enable notifications or indications.
        case subscribe
        /// Disable notifications and indications.
        case unsubscribe
    }

    /// The kind of the request.
    public var kind: Kind
    /// The attribute that the request concerns. For discoveries, it is the service or characteristic in which the
    /// central searches. Nil for a discovery of services.
    public var uuid: CBUUID? { attribute.map { CBUUID($0) } }
    /// The written octets; empty for other requests.
    public var value: Data
    /// The offset in the value at which the central reads or writes.
    public var offset: Int

    let attribute: BluetoothUUID?

    init(_ kind: Kind, _ attribute: BluetoothUUID?, value: Data = Data(), offset: Int = 0) {
        self.kind = kind
        self.attribute = attribute
        self.value = value
        self.offset = offset
    }
}

/// The response of a `VirtualPeripheral` to a request.
public struct VirtualResponse: Sendable {
    indirect enum Action: Sendable {
        case normal
        case error(UInt8)
        case value(Data)
        case ignore
        case disconnect
        case delayed(Duration, Action)
    }

    let action: Action

    /// Responds as its services define.
    public static let normal = VirtualResponse(action: .normal)
    /// Never responds, like a device that hangs. The app's stack disconnects after 30 seconds.
    public static let ignore = VirtualResponse(action: .ignore)
    /// Ends the link instead of a response.
    public static let disconnect = VirtualResponse(action: .disconnect)

    /// Rejects the request. A write without response is ignored.
    public static func error(_ code: CBATTError.Code) -> VirtualResponse {
        .error(UInt8(truncatingIfNeeded: code.rawValue))
    }

    /// Rejects the request with any code, such as 0x80 to 0x9F, which profiles define. A write without response is
    /// ignored.
    public static func error(_ code: UInt8) -> VirtualResponse { VirtualResponse(action: .error(code)) }

    /// Responds to a read with this value, such as one that is too short. Other requests are responded to normally.
    public static func value(_ value: Data) -> VirtualResponse { VirtualResponse(action: .value(value)) }

    /// Responds late. Requests that arrive in the meantime wait. After 30 seconds, the app's stack has disconnected.
    public static func after(_ delay: Duration, _ response: VirtualResponse = .normal) -> VirtualResponse {
        VirtualResponse(action: .delayed(delay, response.action))
    }
}
