import BluetoothBase
import Testing

@testable import CoreBluetoothTesting

struct ScriptTests {
    /// A packet with an ATT PDU.
    private func packet(_ pdu: [UInt8]) -> [UInt8] {
        let count = UInt8(pdu.count)
        return [0x02, 0x40, 0x20, count + 4, 0, count, 0, 0x04, 0x00] + pdu
    }

    @Test func `packets behind the one that drops a link are ignored until the link has ended`() {
        let script = AttributeScript(mtu: 517), write = packet([0x52, 0x03, 0x00, 0x01])
        let discovery = packet([0x10, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28])
        script.add(.discoverServices, nil, skipping: 0, times: 1) { _ in .disconnect }
        var links = ScriptedLinks()
        let now = Instant(nanoseconds: 0)
        var outcome = links.receive([write, discovery, write, discovery], script, at: now)
        #expect(outcome.packets == [write] && outcome.dropsLinks)
        outcome = links.receive([write], script, at: now)
        #expect(outcome.packets.isEmpty && !outcome.dropsLinks)
        // Another link may have the same handle.
        let disconnectionComplete: [UInt8] = [0x04, 0x05, 0x04, 0x00, 0x40, 0x00, 0x16]
        outcome = links.receive([disconnectionComplete, write], script, at: now)
        #expect(outcome.packets == [disconnectionComplete, write])
    }
}
