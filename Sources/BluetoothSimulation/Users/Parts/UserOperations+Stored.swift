import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothUsers

/// The stored values of peers.
extension UserOperations {
    /// The writes and reads of a peer's stored value that an operation makes.
    func storedUse(_ operation: GATTClientOperation, _ peer: Int) -> [ScenarioRun.StoredUse] {
        guard let handle = run.handle(of: .stored, at: peer) else { return [] }
        switch operation {
        case .read(handle), .readLong(handle, _): return run.beginRead(of: peer).map { [$0] } ?? []
        case .write(handle, let value), .writeLong(handle, let value, offset: 0):
            return run.beginWrite(value, to: peer).map { [$0] } ?? []
        case .writeReliably(let values, offset: 0):
            // Both writes are applied together: the second overwrites the beginning of the first.
            let parts = values.filter { $0.handle == handle }.map(\.value)
            guard var value = parts.first else { return [] }
            for part in parts.dropFirst() { value = part + value.dropFirst(part.count) }
            return run.beginWrite(value, to: peer).map { [$0] } ?? []
        default: return []
        }
    }

    func endStored(_ call: CallLedger.Call, _ result: Result<CallResult, HostError>) {
        guard let use = call.stored.first else { return }
        switch (use.kind, result) {
        case (.write, .success): run.endWrite(use, .done)
        case (.write, .failure(.client(.att))): run.endWrite(use, .refused)
        case (.write, .failure), (.read, .failure): return
        case (.read, .success(.gatt(.value(let bytes)))): checkStored(bytes, call, use)
        case (.read, .success): return
        }
    }

    private func checkStored(_ bytes: [UInt8], _ call: CallLedger.Call, _ use: ScenarioRun.StoredUse) {
        guard !run.isTainted(station), let link = call.link.flatMap({ links[$0] }) else { return }
        // Client and server may disagree about the ATT_MTU during its exchange.
        let lengths = ExpectedEnd.mtus(link.information.mtu).map { $0 - 1 }
        let isWrong = run.isWrong(use, isInParts: call.kind != .read) { value in
            switch call.kind {
            case .read: lengths.contains { Array(value.prefix($0)) == bytes }
            default:
                [value, Array(value.dropFirst(5))].contains {
                    $0 == bytes || run.isCut($0, to: bytes, between: station, link.peer)
                }
            }
        }
        if isWrong { fail(.expected, "\(call.kind.rawValue) returned \(bytes.count) octets that no station wrote") }
    }
}
