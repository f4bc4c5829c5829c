import BluetoothLE
import Synchronization
import Testing
@testable import GatewayService

/// Places for connections, and whose they are.
@Suite struct ConnectionTableTests {
    static let devices = (1...3).map { DeviceAddress($0, kind: .public) }

    @Test func places() throws {
        let table = ConnectionTable(limit: 2)
        try table.take(Self.devices[0])
        try table.take(Self.devices[1])
        #expect(throws: ConnectionTable.Refusal.full) { try table.take(Self.devices[2]) }
        // That somebody else has it says more than that there is no place.
        #expect(throws: ConnectionTable.Refusal.owned) { try table.take(Self.devices[0]) }
        #expect(table.taken == Array(Self.devices[..<2]))
        table.giveBack(Self.devices[0])
        try table.take(Self.devices[2])
        #expect(table.taken == Array(Self.devices[1...]))
    }

    @Test func identities() throws {
        let table = ConnectionTable(limit: 2)
        try table.take(DeviceAddress(1, kind: .publicIdentity))
        #expect(throws: ConnectionTable.Refusal.owned) { try table.take(DeviceAddress(1, kind: .public)) }
        try table.take(DeviceAddress(1, kind: .random))
    }

    @Test func changesAreTold() throws {
        let table = ConnectionTable(limit: 1)
        let counts = Told()
        table.observe { [weak table] in counts.counts.withLock { $0.append(table?.taken.count ?? -1) } }
        try table.take(Self.devices[0])
        #expect(throws: ConnectionTable.Refusal.full) { try table.take(Self.devices[1]) }
        table.giveBack(Self.devices[0])
        #expect(counts.counts.withLock { $0 } == [1, 0])
    }

    final class Told: Sendable {
        let counts = Mutex<[Int]>([])
    }
}
