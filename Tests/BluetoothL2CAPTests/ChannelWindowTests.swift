import BluetoothBase
import BluetoothL2CAP
import TestSupport
import Testing

@Suite("SDUs waiting for a channel's reader")
struct ChannelWindowTests {
    var scene = ChannelScene()

    @Test("A slow reader holds at most the window and one SDU, even after longer K-frames were agreed on")
    mutating func windowAfterReconfiguration() throws {
        let id = try #require(scene.acceptEnhanced(1).first)
        _ = try scene.reconfigure([id], mtu: 1024, mps: 512)
        _ = scene.receive("1A 01 02 00 00 00")
        let bound = 4 * 512 + 1024 + 2
        let sdu = [UInt8](repeating: 1, count: 508)
        var credits = Int(ChannelScene.local.window), held = 0
        // The peer uses every credit at once, and then the reader takes one SDU.
        for _ in 0..<100 {
            while credits > 0 {
                credits -= 1
                #expect(scene.frame(bytes("FC 01") + sdu) == .sdu(2..<510))
                held += sdu.count
                #expect(held + credits * 512 <= bound)
            }
            held -= sdu.count
            credits += scene.grant(consuming: sdu.count, on: id)
            #expect(held + credits * 512 <= bound)
        }
        // It takes the rest, and the peer has its whole window again.
        while held > 0 {
            held -= sdu.count
            credits += scene.grant(consuming: sdu.count, on: id)
        }
        #expect(credits == Int(ChannelScene.local.window))
    }

    @Test("One-octet SDUs count as K-frames of the initial MPS, which also bounds their number")
    mutating func manyShortOnes() throws {
        let id = try #require(scene.acceptEnhanced(1).first)
        _ = try scene.reconfigure([id], mtu: 1024, mps: 512)
        _ = scene.receive("1A 01 02 00 00 00")
        var credits = Int(ChannelScene.local.window), waiting = 0
        let limit = ChannelScene.local.greatestWaitingCount(longestMPS: 512)
        #expect(limit == 4 * 8)
        for _ in 0..<200 {
            while credits > 0 {
                credits -= 1
                #expect(scene.frame(bytes("01 00 AA")) == .sdu(2..<3))
                waiting += 1
            }
            #expect(waiting <= limit)
            waiting -= 1
            credits += scene.grant(consuming: 1, on: id)
        }
        #expect(waiting > limit / 4)
    }
}
