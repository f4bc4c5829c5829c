import BluetoothLE
import CoreBluetooth
import Foundation

/// Passes the requests of centrals to the delegate, one at a time.
extension VirtualPeripheral {
    /// - Parameter uuids: the characteristics, by value handle.
    func serve(
        _ events: EventSequence<CharacteristicEvent>, _ uuids: [AttributeHandle: CBUUID]
    ) -> Task<Void, Never> {
        Task { [weak self] in
            do {
                for try await event in events { await self?.handle(event, uuids) }
            } catch {
                // The device is gone, together with its radio.
            }
        }
    }

    private func handle(_ event: CharacteristicEvent, _ uuids: [AttributeHandle: CBUUID]) async {
        switch event {
        case .subscribed(let subscriber), .subscriptionRestored(let subscriber):
            tell(isSubscribed: true, to: uuids[subscriber.characteristic])
        case .unsubscribed(let subscriber): tell(isSubscribed: false, to: uuids[subscriber.characteristic])
        case .written(let value, let handle, _):
            guard let uuid = uuids[handle] else { return }
            // The write was already answered, so an error of the delegate has no effect.
            try? delegate?.peripheral(self, didReceive: Data(value), for: uuid)
        case .readRequested(let request):
            do {
                guard let delegate, let uuid = uuids[request.handle] else { throw CBATTError(.readNotPermitted) }
                try await request.respond([UInt8](delegate.peripheral(self, valueOf: uuid)))
            } catch {
                try? await request.refuse(ATTErrorCode(refusing: error))
            }
        case .writeRequested(let request):
            do {
                for (handle, value) in try request.values {
                    guard let uuid = uuids[handle] else { throw CBATTError(.writeNotPermitted) }
                    try delegate?.peripheral(self, didReceive: value, for: uuid)
                }
                try await request.accept()
            } catch {
                try? await request.refuse(ATTErrorCode(refusing: error))
            }
        // The delegate has no methods for these.
        case .subscriptionChanged, .dataLost, .authorizationRequested: break
        }
    }

    private func tell(isSubscribed: Bool, to uuid: CBUUID?) {
        guard let uuid else { return }
        if isSubscribed { subscribed(uuid.bluetooth) }
        delegate?.peripheral(self, isSubscribed: isSubscribed, to: uuid)
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
