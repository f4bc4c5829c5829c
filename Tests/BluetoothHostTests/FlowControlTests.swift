import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothSimulation
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("ACL flow control")
struct FlowControlTests {
    static let value: AttributeHandle = 0x0010

    /// What the host may write: an ATT Write Command with a value of `count` octets.
    static func write(_ count: Int, _ number: UInt8 = 0) -> [UInt8] {
        frame([0x52, 0x10, 0x00] + [UInt8](repeating: number, count: count))
    }

    @Test("A frame is split into packets of the size that the controller accepts", arguments: [27, 30, 251])
    func aFrameIsCutToTheControllersSize(_ length: Int) throws {
        var controller = ScriptedController.ready([
            .leReadBufferSizeV2: .complete(.success, [UInt8(length), 0, 16, 0, 0, 0])
        ])
        let link = try controller.connect()
        controller.receiveFrame([0x03, 0x05, 0x02])  // ATT_MTU 517
        let isSent = try controller.host.writeWithoutResponse(
            [UInt8](repeating: 9, count: 300).span, to: Self.value, on: link)
        #expect(isSent)
        controller.settle()
        let packets = controller.takeData()
        #expect(packets.count == (307 + length - 1) / length)
        #expect(packets.dropLast().allSatisfy { $0.count == length + 4 })
        #expect(packets.map { $0[1] >> 4 } == [0] + [UInt8](repeating: 1, count: packets.count - 1))
        #expect(Array(packets.map { $0[4...] }.joined()) == Self.write(300, 9))
    }

    @Test("A full queue rejects writes, and the host reports once when the queue has room again")
    func aFullQueueSaysNotNowAndOnceThatThereIsRoom() throws {
        var controller = ScriptedController.ready([:]) { $0.sendQueueLimit = 4 }
        controller.completesPackets = false
        let link = try controller.connect()
        controller.complete(0x40, 1)
        var accepted: [UInt8] = []
        for number: UInt8 in 0..<20 {
            let isSent = try controller.host.writeWithoutResponse([number].span, to: Self.value, on: link)
            if isSent { accepted.append(number) }
        }
        controller.settle()
        #expect(accepted == Array(0..<8), "four with the controller, four in the queue")
        #expect(controller.takeEvents() == [])
        controller.complete(0x40, 1)
        #expect(controller.takeEvents() == [])
        controller.complete(0x40, 1)
        #expect(controller.takeEvents() == ["ready to send"])
        controller.complete(0x40, 4)
        controller.complete(0x40, 4)
        #expect(controller.takeEvents() == [])
        #expect(controller.takeData().map { $0[11] } == accepted, "nothing is lost or reordered")
    }

    @Test("H2: an invalid Number Of Completed Packets frees no buffers")
    func nonsenseCompletions() throws {
        var controller = ScriptedController.ready()
        controller.completesPackets = false
        let link = try controller.connect()
        controller.complete(0x40, 0xFFFF)
        controller.complete(0x0999, 100)
        controller.receive(bytes("0413050240 00FFFF"))
        for _ in 0..<20 { _ = try controller.host.writeWithoutResponse([1].span, to: Self.value, on: link) }
        controller.settle()
        #expect(controller.data.count == 4)
    }

    @Test("When the handle of an abandoned link is reused, its buffers become available to waiting links")
    func handleOfALinkThatWasGivenUp() throws {
        var controller = ScriptedController.ready()
        controller.completesPackets = false
        let peer = DeviceAddress(2, kind: .public)
        let first = try controller.connect(0x40)
        controller.complete(0x40, 1)
        let second = try controller.connect(0x41, to: peer)
        controller.complete(0x41, 1)
        for number: UInt8 in 0..<2 {
            _ = try controller.host.writeWithoutResponse([number].span, to: Self.value, on: second)
        }
        for number: UInt8 in 0..<4 {
            _ = try controller.host.writeWithoutResponse([number].span, to: Self.value, on: first)
        }
        // The end of the second link is never reported.
        try controller.host.disconnect(second, at: controller.now)
        controller.run(for: .seconds(9))
        #expect(controller.takeData().count == 4, "two of each link have all buffers")

        _ = try controller.host.connect(to: PeerID(peer), timeout: nil, at: controller.now)
        controller.settle()
        controller.reportConnection(0x41, peer: peer)
        #expect(controller.takeData() == [bytes("4000 0800 0400 0400 52 1000 02")], "its share is two and one to spare")
    }

    @Test("When a link ends, its buffers become available to another link")
    func aLinkThatEndsGivesItsBuffersBack() throws {
        var controller = ScriptedController.ready()
        controller.completesPackets = false
        let first = try controller.connect(0x40)
        controller.complete(0x40, 1)
        let second = try controller.connect(0x41, to: DeviceAddress(2, kind: .public))
        controller.complete(0x41, 1)
        for number: UInt8 in 0..<8 {
            _ = try controller.host.writeWithoutResponse([number].span, to: Self.value, on: first)
            _ = try controller.host.writeWithoutResponse([number].span, to: Self.value, on: second)
        }
        controller.settle()
        #expect(controller.takeData().count == 4)
        controller.reportDisconnection(0x40)
        let packets = controller.takeData()
        #expect(packets.map { $0[0] } == [0x41, 0x41])
        controller.complete(0x41, 4)
        #expect(controller.takeData().count == 4)
        // A controller that still reports the packets of the link that is gone.
        controller.complete(0x40, 2)
        #expect(controller.takeData().count == 0)
    }

    @Test(
        "packets of a link whose end was never reported occupy controller buffers until the controller reports it",
        arguments: [0, 1, 2])
    func unreportedEnd(_ how: Int) throws {
        var controller = ScriptedController.ready()
        controller.completesPackets = false
        let first = try controller.connect(0x40)
        controller.complete(0x40, 1)
        for _ in 0..<2 { _ = try controller.host.writeWithoutResponse([0].span, to: Self.value, on: first) }
        try controller.host.disconnect(first, at: controller.now)
        controller.run(for: .seconds(9))
        #expect(controller.takeEvents() == ["disconnected link 0.1: 22"])
        let second = try controller.connect(0x41, to: DeviceAddress(2, kind: .public))
        controller.complete(0x41, 1)
        _ = controller.takeData()
        for _ in 0..<8 { _ = try controller.host.writeWithoutResponse([0].span, to: Self.value, on: second) }
        controller.settle()
        #expect(controller.takeData().count == 2)
        // The controller remembers them at last.
        switch how {
        case 0: controller.complete(0x40, 2)
        case 1: controller.reportDisconnection(0x40)
        default: controller.reportConnection(0x40, peer: DeviceAddress(3, kind: .public))
        }
        controller.complete(0x41, 0)
        // A third link leaves one buffer to each other.
        #expect(controller.takeData().count == (how == 2 ? 1 : 2))
        #expect(controller.host.connectedLinks == [second])
    }

    @Test("When the controller reports the end of an abandoned link at last, waiting links send at once")
    func endReportedLate() throws {
        var controller = ScriptedController.ready()
        controller.completesPackets = false
        let first = try controller.connect(0x40)
        controller.complete(0x40, 1)
        for _ in 0..<2 { _ = try controller.host.writeWithoutResponse([0].span, to: Self.value, on: first) }
        try controller.host.disconnect(first, at: controller.now)
        controller.run(for: .seconds(9))
        let second = try controller.connect(0x41, to: DeviceAddress(2, kind: .public))
        controller.complete(0x41, 1)
        for number: UInt8 in 0..<4 {
            _ = try controller.host.writeWithoutResponse([number].span, to: Self.value, on: second)
        }
        controller.settle()
        #expect(controller.takeData().count == 2, "the other buffers are still taken")
        controller.reportDisconnection(0x40)
        let waiting = [bytes("4100 0800 0400 0400 52 1000 02"), bytes("4100 0800 0400 0400 52 1000 03")]
        #expect(controller.takeData() == waiting)
    }

    @Test("A controller is reset if a link whose end it never reports occupies all its buffers")
    func aControllerThatNeverLetsGoOfItsLastBufferIsReset() throws {
        var controller = ScriptedController.ready()
        controller.completesPackets = false
        let link = try controller.connect()
        controller.complete(0x40, 1)
        for _ in 0..<4 { _ = try controller.host.writeWithoutResponse([0].span, to: Self.value, on: link) }
        try controller.host.disconnect(link, at: controller.now)
        controller.run(for: .seconds(9))
        #expect(
            controller.takeEvents() == [
                "disconnected link 0.1: 22", "resetting: no answer to Disconnect", "ready",
            ])
        _ = controller.takeData()
        let next = try controller.connect()
        controller.complete(0x40, 1)
        for _ in 0..<8 { _ = try controller.host.writeWithoutResponse([0].span, to: Self.value, on: next) }
        controller.settle()
        #expect(controller.takeData().count == 4)
    }

    @Test("A link whose packets are never completed leaves one buffer for another link, which continues to send")
    func aPeerThatFellSilentDoesNotHoldUpTheOthers() throws {
        var controller = ScriptedController.ready()
        controller.completesPackets = false
        let silent = try controller.connect(0x40)
        controller.complete(0x40, 1)
        let lively = try controller.connect(0x41, to: DeviceAddress(2, kind: .public))
        controller.complete(0x41, 1)
        for _ in 0..<12 { _ = try controller.host.writeWithoutResponse([0].span, to: Self.value, on: silent) }
        controller.settle()
        #expect(controller.takeData().count == 3, "one buffer is left for the other link")
        for _ in 0..<12 {
            _ = try controller.host.writeWithoutResponse([0].span, to: Self.value, on: lively)
            controller.settle()
            #expect(controller.takeData().map { $0[0] } == [0x41])
            controller.complete(0x41, 1)
        }
    }

    @Test("Three links take turns using the controller's only buffer")
    func linksTakeTurns() throws {
        var controller = ScriptedController.ready([.leReadBufferSizeV2: .complete(.success, [27, 0, 1, 0, 0, 0])])
        controller.completesPackets = false
        var links: [LinkIdentifier] = []
        for number: UInt16 in 0..<3 {
            let peer = DeviceAddress(UInt64(number) + 1, kind: .public)
            links.append(try controller.connect(ConnectionHandle(0x40 + number), to: peer))
            controller.complete(ConnectionHandle(0x40 + number), 1)
        }
        for link in links {
            for _ in 0..<5 { _ = try controller.host.writeWithoutResponse([0].span, to: Self.value, on: link) }
        }
        var order: [UInt8] = []
        controller.settle()
        while let packet = controller.takeData().first {
            order.append(packet[0])
            controller.complete(ConnectionHandle(UInt16(packet[0])), 1)
        }
        #expect(order.count == 15)
        for start in stride(from: 1, to: 13, by: 3) {
            #expect(Set(order[start..<start + 3]).count == 3, "\(order)")
        }
    }

    @Test(
        "A6: a peer that floods a link on which nothing can be sent is disconnected",
        arguments: [
            [0x0A, 0x03, 0x00],  // Read Request
            [0x1D, 0x03, 0x00, 0x01],  // Handle Value Indication
            [0xBF],  // an unknown request
        ] as [[UInt8]])
    func floodWhileNothingIsSent(_ pdu: [UInt8]) throws {
        var controller = ScriptedController.ready { $0.receiveBufferCount = 0 }
        controller.completesPackets = false
        _ = try controller.connect()
        for _ in 0..<10_000 {
            controller.receiveFrame(pdu)
            if controller.commands.contains(where: { $0.opcode == .disconnect }) { break }
        }
        #expect(controller.takeOpcodes() == [.disconnect])
        #expect(controller.seen.count <= 100)
        controller.seen.removeAll()
        for _ in 0..<1000 { controller.receiveFrame(pdu) }
        #expect(controller.takeEvents() == [])
        controller.reportDisconnection(0x40, .connectionTerminatedByLocalHost)
        #expect(controller.takeEvents() == ["disconnected link 0.1: 7"])
    }

    @Test(
        "A flood of parameter update requests causes fewer than 50 commands, and no responses beyond the free buffers")
    func signallingFloodsAreBoundedToo() throws {
        var controller = ScriptedController.ready([.leConnectionUpdate: .silence]) { $0.receiveBufferCount = 0 }
        controller.completesPackets = false
        _ = try controller.connect()
        for number in 0..<10_000 {
            let request = bytes("12 01 0800 1800 2800 0000 C800")
            controller.receiveFrame([request[0], UInt8(number % 255) + 1] + request[2...], on: 0x05)
        }
        #expect(controller.takeOpcodes().count < 50)
        #expect(controller.data.count == 3)
    }

    @Test("The purpose of a command takes the place of one whose command has been answered")
    func purposesOfCommandsStayFew() {
        var purposes = CommandPurposes()
        let unanswered = purposes.insert(.privacy)
        var tokens: Set<UInt64> = []
        for _ in 0..<100 {
            let token = purposes.insert(.privacy)
            tokens.insert(token)
            #expect(purposes.remove(token) == .privacy)
        }
        #expect(tokens.count == 1 && !tokens.contains(unanswered))
        #expect(purposes.remove(unanswered) == .privacy)
    }

    @Test("A queue that is never quite empty does not grow")
    func memoryStaysFlat() {
        var queue = PacketQueue()
        let packet = [UInt8](repeating: 1, count: 100)
        for _ in 0..<16 { queue.append(packet.span) }
        for number in 0..<100_000 {
            queue.append(packet.span)
            queue.removeFirst()
            if number % 1000 == 0 {
                #expect(queue.count == 16)
                #expect(queue.writer.count < 20_000)
            }
        }
    }
}
