import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothL2CAP
import BluetoothUsers

/// An application's request to a peripheral. Requests are carried out one at a time.
enum PeripheralOperation {
    case discoverServices([BluetoothUUID])
    case discoverIncludedServices([BluetoothUUID], CBService)
    case discoverCharacteristics([BluetoothUUID], CBService)
    case discoverDescriptors(CBCharacteristic)
    case read(CBAttribute)
    case write([UInt8], CBAttribute)
    case setNotify(CBCharacteristic, Bool)
    /// Renews a subscription of an earlier run.
    case renew(CBCharacteristic)
    case openChannel(CBL2CAPPSM)
    /// Finds the current handles of attributes that an earlier run discovered.
    // Indirect: it is rare, and would triple the size of every event.
    indirect case locate(GATTClientOperation)

    /// The call to make; nil if none is needed.
    func call(on link: LinkIdentifier) -> Result<HostCall.Kind?, HostError> {
        switch self {
        case .discoverServices: return .success(.perform(link, .discoverPrimaryServices()))
        case .discoverIncludedServices(_, let service):
            return .success(.perform(link, .discoverIncludedServices(in: service.handles)))
        case .discoverCharacteristics(_, let service):
            // Discovers all of them, because a characteristic ends where the next one begins.
            return .success(.perform(link, .discoverCharacteristics(in: service.handles)))
        case .discoverDescriptors(let characteristic):
            return .success(characteristic.descriptorHandles.map { .perform(link, .discoverDescriptors(in: $0)) })
        case .read(let attribute): return .success(.perform(link, .readLong(attribute.handle)))
        case .write(let value, let attribute):
            // No attribute can hold a longer value, so the peer need not be asked.
            guard value.count <= GATTAttributeValue.maximumLength else {
                return .failure(.refused(.invalidAttributeValueLength, .writeRequest, at: attribute.handle))
            }
            return .success(.write(link, attribute.handle, value))
        // The host knows whether a subscription already exists.
        case .setNotify(let characteristic, false): return .success(.unsubscribeAll(link, characteristic.handle))
        case .setNotify(let characteristic, true), .renew(let characteristic):
            return subscription(to: characteristic, on: link)
        case .openChannel(let psm):
            return .success(.channel(link, .open(psm: psm, ChannelParameters(), count: nil)))
        case .locate(let operation): return .success(.perform(link, operation))
        }
    }

    private func subscription(
        to characteristic: CBCharacteristic, on link: LinkIdentifier
    ) -> Result<HostCall.Kind?, HostError> {
        let configuration = characteristic.configuration
        guard !configuration.isEmpty, let end = characteristic.discovered?.endHandle else {
            return .failure(.refused(.requestNotSupported, .writeRequest, at: characteristic.handle))
        }
        let request = SubscriptionRequest(
            characteristic: characteristic.handle, end: end, configuration: configuration)
        return .success(.subscribe(link, request))
    }

    /// The characteristic whose subscription changes if the operation succeeds.
    var subscription: (CBCharacteristic, isEnabled: Bool)? {
        switch self {
        case .setNotify(let characteristic, let isEnabled): (characteristic, isEnabled)
        case .renew(let characteristic): (characteristic, true)
        default: nil
        }
    }
}

extension HostError {
    fileprivate static func refused(
        _ code: ATTErrorCode, _ opcode: ATTOpcode, at handle: AttributeHandle
    ) -> HostError {
        .client(.att(ATTError(code, for: opcode, at: handle)))
    }
}
