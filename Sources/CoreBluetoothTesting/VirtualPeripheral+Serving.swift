import BluetoothATT
import BluetoothLE
import CoreBluetooth
import Foundation

/// Passes the requests of centrals to the delegate, one at a time.
extension VirtualPeripheral {
    func handle(_ event: CharacteristicEvent) async {
        switch event {
        case .subscribed(let subscriber), .subscriptionRestored(let subscriber):
            tell(isSubscribed: true, subscriber)
            recording?.subscribed(subscriber, to: self)
        case .unsubscribed(let subscriber):
            tell(isSubscribed: false, subscriber)
            recording?.unsubscribed(subscriber)
        case .written(let value, let handle, _):
            // The write was already answered, so an error of the delegate has no effect.
            try? receive(Data(value), at: handle)
        case .readRequested(let request):
            do {
                try await request.respond([UInt8](value(at: request.handle)))
            } catch {
                try? await request.refuse(ATTErrorCode(refusing: error))
            }
        case .writeRequested(let request):
            do {
                for (handle, value) in try request.values { try receive(value, at: handle) }
                try await request.accept()
            } catch {
                try? await request.refuse(ATTErrorCode(refusing: error))
            }
        // The delegate has no methods for these.
        case .subscriptionChanged, .dataLost, .authorizationRequested: break
        }
    }

    private func value(at handle: AttributeHandle) throws -> Data {
        guard let delegate else { throw CBATTError(.readNotPermitted) }
        switch script.attributes.value(at: handle) {
        case .characteristic(let uuid): return try delegate.peripheral(self, valueOf: CBUUID(uuid))
        case .descriptor(let uuid, let characteristic):
            return try delegate.peripheral(self, valueOf: CBUUID(uuid), of: CBUUID(characteristic))
        case nil: throw CBATTError(.readNotPermitted)
        }
    }

    private func receive(_ value: Data, at handle: AttributeHandle) throws {
        switch script.attributes.value(at: handle) {
        case .characteristic(let uuid):
            try delegate?.peripheral(self, didReceive: value, for: CBUUID(uuid))
            waiters.happened(.written(uuid, value))
        case .descriptor(let uuid, let characteristic):
            try delegate?.peripheral(self, didReceive: value, for: CBUUID(uuid), of: CBUUID(characteristic))
        case nil: throw CBATTError(.writeNotPermitted)
        }
    }

    private func tell(isSubscribed: Bool, _ subscriber: Subscriber) {
        guard case .characteristic(let uuid) = script.attributes.value(at: subscriber.characteristic) else { return }
        delegate?.peripheral(self, isSubscribed: isSubscribed, to: CBUUID(uuid))
        if isSubscribed { waiters.happened(.subscribed(uuid)) }
    }
}

extension IncomingWrite {
    /// The values, assembled from their parts, in the order of their first parts. Each value starts empty, so a part
    /// that would leave a gap is rejected.
    fileprivate var values: [(handle: AttributeHandle, value: Data)] {
        get throws(CBATTError) {
            var values: [(handle: AttributeHandle, value: Data)] = []
            for part in parts {
                let index = values.firstIndex { $0.handle == part.handle } ?? values.endIndex
                if index == values.endIndex { values.append((part.handle, Data())) }
                guard part.offset <= values[index].value.count else { throw CBATTError(.invalidOffset) }
                values[index].value = values[index].value.prefix(part.offset) + part.value
            }
            return values
        }
    }
}

extension ATTErrorCode {
    /// The error code of a delegate's refusal; Unlikely Error if it did not throw a `CBATTError`.
    fileprivate init(refusing error: any Error) {
        let code = (error as? CBATTError)?.code.rawValue ?? CBATTError.unlikelyError.rawValue
        self.init(rawValue: UInt8(truncatingIfNeeded: code))
    }
}
