import BluetoothBase
import BluetoothHCI
import Testing

@Suite("The controller's data buffers")
struct ACLFlowControlTests {
    @Test("each packet takes a buffer, until none is left")
    func exhaustion() {
        var flow = flowControl(buffers: 2)
        #expect(flow.takeBuffer(for: 0x40) == true)
        #expect(flow.takeBuffer(for: 0x41) == true)
        #expect(!flow.canSend)
        #expect(flow.takeBuffer(for: 0x40) == false)
        #expect(flow.complete(.init(connectionHandle: 0x41, count: 1)) == 1)
        #expect(flow.takeBuffer(for: 0x41) == true)
        #expect(flow.outstanding(for: 0x40) == 1)
        #expect(flow.outstanding(for: 0x41) == 1)
        #expect(flow.violations == 0)
    }

    @Test(
        "a link that has used its share leaves a buffer for every other link",
        arguments: [(buffers: 1, taken: 1), (2, 1), (3, 2), (4, 3), (8, 7)])
    func fairShare(_ buffers: Int, _ taken: Int) {
        var flow = flowControl(buffers: buffers)
        var count = 0
        while flow.takeBuffer(for: 0x40) { count += 1 }
        #expect(count == taken)
        #expect(flow.takeBuffer(for: 0x41) == (taken < buffers))
        flow.removeLink(0x41)
        while flow.takeBuffer(for: 0x40) { count += 1 }
        #expect(count == buffers, "a link that is alone may have them all")
    }

    @Test("the room of a link is the number of buffers it can take in succession", arguments: -1...12)
    func room(_ buffers: Int) {
        for links in 1...4 {
            for taken in 0...max(0, buffers) {
                var flow = ACLFlowControl(bufferCount: buffers)
                for handle in 1...links { flow.addLink(ConnectionHandle(UInt16(handle))) }
                // The links take buffers in turn, the first one more than the others.
                for number in 0..<taken {
                    _ = flow.takeBuffer(for: ConnectionHandle(UInt16(max(1, number % (links + 1)))))
                }
                for handle in (1...links).map({ ConnectionHandle(UInt16($0)) }) {
                    var (one, all, room) = (flow, flow, 0)
                    while one.takeBuffer(for: handle) { room += 1 }
                    #expect(flow.room(for: handle) == room, "\(links) links, \(taken) taken")
                    all.takeBuffers(room, for: handle)
                    #expect(all.outstanding(for: handle) == one.outstanding(for: handle))
                    #expect(all.canSend == one.canSend && all.room(for: handle) == 0)
                }
            }
        }
        var flow = ACLFlowControl(bufferCount: buffers)
        flow.addLink(0x40)
        _ = flow.takeBuffer(for: 0x40)
        _ = flow.abandonLink(0x40)
        #expect(flow.room(for: 0x40) == 0 && flow.room(for: 0x41) == 0)
    }

    @Test("H2: a count above a link's outstanding packets, or for an unknown link, frees no extra buffers")
    func clamped() {
        var flow = flowControl(buffers: 4)
        #expect(flow.takeBuffer(for: 0x40) == true)
        #expect(flow.takeBuffer(for: 0x41) == true)
        #expect(flow.complete(.init(connectionHandle: 0x40, count: 0xFFFF)) == 1)
        #expect(flow.complete(.init(connectionHandle: 0x40, count: 1)) == 0)
        #expect(flow.complete(.init(connectionHandle: 0x99, count: 1)) == 0)
        #expect(flow.available == 3)
        #expect(flow.violations == 3)
    }

    @Test("H9: a link that ends returns its buffers, once")
    func removal() {
        var flow = flowControl(buffers: 4)
        #expect(flow.takeBuffer(for: 0x40) == true)
        #expect(flow.takeBuffer(for: 0x40) == true)
        #expect(flow.takeBuffer(for: 0x41) == true)
        #expect(flow.removeLink(0x40) == 2)
        #expect(flow.available == 3)
        #expect(flow.removeLink(0x40) == 0)
        #expect(flow.complete(.init(connectionHandle: 0x40, count: 2)) == 0)
        #expect(flow.available == 3)
        #expect(flow.takeBuffer(for: 0x40) == false)
    }

    @Test("a handle can be reused, and adding a link twice changes nothing")
    func reuse() {
        var flow = flowControl(buffers: 4)
        #expect(flow.takeBuffer(for: 0x40) == true)
        flow.addLink(0x40)
        #expect(flow.outstanding(for: 0x40) == 1)
        flow.removeLink(0x40)
        flow.addLink(0x40)
        #expect(flow.outstanding(for: 0x40) == 0)
        #expect(flow.takeBuffer(for: 0x40) == true)
    }

    @Test("packets of an abandoned link stay outstanding until the controller completes them or reuses the handle")
    func abandonment() {
        var flow = flowControl(buffers: 4)
        for _ in 0..<2 { #expect(flow.takeBuffer(for: 0x40) == true) }
        #expect(flow.abandonLink(0x40) == true)
        #expect(flow.abandonLink(0x40) == true)
        #expect(flow.available == 2)
        #expect(flow.takeBuffer(for: 0x40) == false)
        for _ in 0..<2 { #expect(flow.takeBuffer(for: 0x41) == true) }
        #expect(flow.takeBuffer(for: 0x41) == false)
        #expect(flow.complete(.init(connectionHandle: 0x40, count: 1)) == 1)
        #expect(flow.takeBuffer(for: 0x41) == true)
        // A new link under the same handle: the controller has forgotten the old one.
        flow.addLink(0x40)
        #expect(flow.takeBuffer(for: 0x40) == true)
        #expect(flow.outstanding(for: 0x40) == 1)
        #expect(flow.abandonLink(0x40) == true)
        #expect(flow.abandonLink(0x41) == false, "all buffers are lost")
        #expect(flow.removeLink(0x40) == 1)
        #expect(flow.removeLink(0x41) == 3)
        flow.addLink(0x42)
        #expect(flow.abandonLink(0x42) == true)
        #expect(flow.removeLink(0x42) == 0, "nothing is remembered of a link that had sent nothing")
    }

    @Test("H6: without buffers nothing is ever sent", arguments: [0, -1])
    func noBuffers(_ count: Int) {
        var flow = flowControl(buffers: count)
        #expect(!flow.canSend)
        #expect(flow.takeBuffer(for: 0x40) == false)
        flow.reset(bufferCount: 1)
        flow.addLink(0x40)
        #expect(flow.takeBuffer(for: 0x40) == true)
    }

    private func flowControl(buffers: Int) -> ACLFlowControl {
        var flow = ACLFlowControl(bufferCount: buffers)
        flow.addLink(0x40)
        flow.addLink(0x41)
        return flow
    }
}
