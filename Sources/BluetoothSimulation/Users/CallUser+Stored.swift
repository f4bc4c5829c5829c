import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHost

/// The stored values of peers, and what is seen of peers.
extension CallUser {
    /// What an operation does to the stored value of a peer, or reads of it.
    func storedUse(_ operation: GATTClientOperation, _ peer: Int) -> [ScenarioRun.StoredUse] {
        guard let handle = run.handle(of: .stored, at: peer) else { return [] }
        switch operation {
        case .read(handle), .readLong(handle, _): return run.beginRead(of: peer).map { [$0] } ?? []
        case .write(handle, let value), .writeLong(handle, let value):
            return run.beginWrite(value, to: peer).map { [$0] } ?? []
        case .writeReliably(let values):
            // They happen together: of two, the second is written over the beginning of the first.
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
        guard !run.isTainted(station), let index = call.link.flatMap(index) else { return }
        // The two may differ about the ATT_MTU while it is exchanged.
        let lengths = ExpectedEnd.mtus(links[index].information.mtu).map { $0 - 1 }
        let isWrong = run.isWrong(use, isInParts: call.kind != .read) { value in
            switch call.kind {
            case .read: lengths.contains { Array(value.prefix($0)) == bytes }
            default:
                [value, Array(value.dropFirst(5))].contains {
                    $0 == bytes || run.isCut($0, to: bytes, between: station, links[index].peer)
                }
            }
        }
        if isWrong { fail(.expected, "\(call.kind.rawValue) gave \(bytes.count) octets, which nobody had written") }
    }

    /// A scan finds what it is for.
    func check(_ sighting: Sighting, for scan: CallLedger.Call) {
        checkSet(sighting)
        if run.anyTaintedStation == nil, !sighting.isAnonymous, run.station(at: sighting.address) == nil {
            fail(.expected, "a sighting of \(sighting.address), where nobody is")
        }
        if scan.isForService, !sighting.serviceUUIDs.contains(SimulatedService.uuid) {
            fail(.expected, "a sighting without the service that the scan is for")
        }
    }
}
