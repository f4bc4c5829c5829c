import BluetoothLE
import Foundation
import SwiftProtobuf

/// The answers to a client, encoded as messages.
struct ProxyAnswers: Sendable {
    let send: @Sendable (Frame) -> Void
    /// Whether the client supports short UUIDs.
    let usesShortUUIDs: Bool

    func tell(_ type: MessageType, _ message: some SwiftProtobuf.Message) { send(Frame(type, Self.octets(message))) }

    /// Serialization throws only for messages with required fields, and the API has none.
    static func octets(_ message: some SwiftProtobuf.Message) -> [UInt8] { (try? message.serializedBytes()) ?? [] }

    func connected(_ device: DeviceAddress, mtu: Int) {
        tell(
            .deviceConnection,
            APIBluetoothDeviceConnectionResponse.with {
                $0.address = device.value
                $0.connected = true
                $0.mtu = UInt32(clamping: mtu)
            })
    }

    func disconnected(_ device: DeviceAddress, _ error: ProxyError) {
        tell(
            .deviceConnection,
            APIBluetoothDeviceConnectionResponse.with {
                $0.address = device.value
                $0.error = error.code
            })
    }

    func failed(_ device: DeviceAddress, _ handle: UInt16, _ error: ProxyError) {
        tell(
            .gattError,
            APIBluetoothGATTErrorResponse.with {
                $0.address = device.value
                $0.handle = UInt32(handle)
                $0.error = error.code
            })
    }

    func read(_ device: DeviceAddress, _ handle: AttributeHandle, _ value: [UInt8]) {
        tell(.readResponse, Self.value(device, handle, value))
    }

    func notified(_ device: DeviceAddress, _ handle: AttributeHandle, _ value: [UInt8]) {
        tell(.notifyData, Self.value(device, handle, value))
    }

    func written(_ device: DeviceAddress, _ handle: AttributeHandle) {
        tell(.writeResponse, Self.handle(device, handle))
    }

    func notifying(_ device: DeviceAddress, _ handle: AttributeHandle) {
        tell(.notifyResponse, Self.handle(device, handle))
    }

    func paired(_ device: DeviceAddress, _ error: ProxyError?) {
        tell(
            .pairing,
            APIBluetoothDevicePairingResponse.with {
                $0.address = device.value
                $0.paired = error == nil
                $0.error = error?.code ?? 0
            })
    }

    /// The answer to a request to unpair, or to clear the cache.
    func succeeded(_ type: MessageType, _ device: DeviceAddress, _ error: ProxyError?) {
        tell(
            type,
            APIBluetoothDeviceSuccessResponse.with {
                $0.address = device.value
                $0.success = error == nil
                $0.error = error?.code ?? 0
            })
    }

    func parametersUpdated(_ device: DeviceAddress, _ error: ProxyError?) {
        tell(
            .connectionParametersSet,
            APIBluetoothSetConnectionParametersResponse.with {
                $0.address = device.value
                $0.error = error?.code ?? 0
            })
    }

    func places(_ places: ProxyPlaces) {
        tell(
            .connectionsFree,
            APIBluetoothConnectionsFreeResponse.with {
                $0.limit = UInt32(clamping: places.limit)
                $0.free = UInt32(clamping: places.limit - places.taken.count)
                $0.allocated = places.taken.map(\.value)
            })
    }

    func scanning(_ scanning: ProxyScanning) {
        tell(
            .scannerState,
            APIBluetoothScannerStateResponse.with {
                $0.state = scanning.isRunning ? .running : .failed
                $0.mode = scanning.isActive ? .active : .passive
                $0.configuredMode = scanning.isActiveByConfiguration ? .active : .passive
            })
    }

    /// Sends the services, one message for each.
    ///
    /// - Throws: an error if a service does not fit in a message.
    func discovered(_ device: DeviceAddress, _ database: DiscoveredDatabase) throws(ProxyError) {
        let frames = database.services.map { service in
            Frame(
                .getServicesResponse,
                Self.octets(
                    APIBluetoothGATTGetServicesResponse.with {
                        $0.address = device.value
                        $0.services = [self.service(service, database)]
                    }))
        }
        guard frames.allSatisfy({ $0.payload.count <= NoiseFraming.longestPayload }) else {
            throw .insufficientResources
        }
        for frame in frames { send(frame) }
        tell(.getServicesDone, APIBluetoothGATTGetServicesDoneResponse.with { $0.address = device.value })
    }

    private func service(_ service: DiscoveredService, _ database: DiscoveredDatabase) -> APIBluetoothGATTService {
        .with { message in
            (message.uuid, message.shortUuid) = uuid(service.uuid)
            message.handle = UInt32(service.startHandle.rawValue)
            message.characteristics = database.characteristics(of: service).map { characteristic in
                .with { message in
                    (message.uuid, message.shortUuid) = uuid(characteristic.uuid)
                    message.handle = UInt32(characteristic.valueHandle.rawValue)
                    message.properties = UInt32(characteristic.properties.rawValue)
                    message.descriptors = database.descriptors(of: characteristic).map { descriptor in
                        .with { message in
                            (message.uuid, message.shortUuid) = uuid(descriptor.uuid)
                            message.handle = UInt32(descriptor.handle.rawValue)
                        }
                    }
                }
            }
        }
    }

    private func uuid(_ uuid: BluetoothUUID) -> (long: [UInt64], short: UInt32) {
        if usesShortUUIDs, let short = uuid.shortValue, short != 0 { return ([], short) }
        return ([uuid.high, uuid.low], 0)
    }

    private static func handle(_ device: DeviceAddress, _ handle: AttributeHandle) -> APIBluetoothGATTHandle {
        .with {
            $0.address = device.value
            $0.handle = UInt32(handle.rawValue)
        }
    }

    private static func value(
        _ device: DeviceAddress, _ handle: AttributeHandle, _ value: [UInt8]
    ) -> APIBluetoothGATTValue {
        .with {
            $0.address = device.value
            $0.handle = UInt32(handle.rawValue)
            $0.data = Data(value)
        }
    }
}
