import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

extension UserOperations {
    /// The end that an operation on one or two characteristics must have; nil if it cannot be predicted.
    func expectation(
        _ operation: GATTClientOperation, of first: SimulatedService.Characteristic,
        and second: SimulatedService.Characteristic? = nil, _ peer: Int
    ) -> ExpectedEnd? {
        let handles = [first, second ?? first].map { run.handle(of: $0, at: peer) }
        guard let handle = handles[0], let other = handles[1] else { return nil }
        var expected = ExpectedEnd(peer: peer, epoch: run.epochs[peer])
        expected.possible = first.ownRefusals.union(second?.ownRefusals ?? [])
        expected.needsEncryption = run.hasSecurity && (first == .locked || second == .locked)
        if expected.needsEncryption, !run.isSurelyEncrypted(station, peer) {
            expected.possible.formUnion([.insufficientAuthentication, .insufficientEncryption])
        }
        let value = first.value(at: peer)
        switch operation {
        case .read(handle):
            expected.refusal = first.readRefusal(run)
            if let value { expected.result = .beginning(value) }
        case .readLong(handle, let offset):
            expected.refusal = first.readRefusal(run)
            if let value { expected.result = .value(Array(value.dropFirst(Int(offset)))) }
            // Another client may have written a short value.
            if offset > 0, value == nil { expected.possible.insert(.invalidOffset) }
        case .readByUUID(SimulatedService.uuid(of: first), _):
            expected.refusal = first.readRefusal(run)
            if let value { expected.result = .typed(handle, value) }
        case .readMultiple([handle, other, handle]):
            expected.refusal = first.readRefusal(run) ?? second?.readRefusal(run)
        case .readMultipleVariable([handle, other, handle]):
            expected.refusal = first.readRefusal(run) ?? second?.readRefusal(run)
            expected.result = .several([handle, other, handle], [value, second?.value(at: peer), value])
        case .write(handle, _), .writeLong(handle, _, _): expected.refusal = first.writeRefusal(run)
        case .writeReliably(let values, offset: 0) where values.map(\.handle) == [handle, other]:
            expected.refusal = first.writeRefusal(run) ?? second?.writeRefusal(run)
        default: return nil
        }
        return expected
    }
}
