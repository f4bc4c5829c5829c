import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP
import BluetoothSimulation
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("Channel frames lost in this device")
struct LostFrameTests {
    var controller = ScriptedController.ready()

    private static let closed = "channel closed: \(ChannelEnd.dataLost)"
    private static let interrupted = "lost: frameInterrupted", invalid = "lost: fragmentInvalid"

    /// What a case brings: packets, each with its flags of boundary and broadcast, 2 for a first fragment and 1 for a
    /// further one.
    struct Loss: Sendable, CustomStringConvertible {
        let description: String
        let packets: [(flags: UInt8, data: String)]
        let events: [String]
        /// The endpoints of this host that are closed.
        let closed: [UInt8]

        init(_ description: String, _ packets: [(UInt8, String)], _ events: [String], _ closed: [UInt8]) {
            self.description = description
            self.packets = packets.map { (flags: $0.0, data: $0.1) }
            self.events = events
            self.closed = closed
        }
    }

    static let losses: [Loss] = [
        Loss(
            "the rest of a frame on a channel", [(2, "0600 4000 0400 01"), (2, "0300 0500 010000")],
            [interrupted, closed], [0x40]),
        Loss(
            "the rest of a frame on a fixed channel", [(2, "0700 0400 1B"), (2, "0300 0500 010000")], [interrupted], []),
        Loss(
            "the rest of a frame that has not named its channel", [(2, "0700"), (2, "0300 0500 010000")],
            [interrupted, closed, closed], [0x40, 0x41]),
        Loss("the beginning of a frame", [(1, "0102")], [invalid, closed, closed], [0x40, 0x41]),
        Loss("a frame that is longer than it says", [(2, "0300 4100 0100 07 07")], [invalid, closed], [0x41]),
        Loss(
            "… and goes on", [(2, "0300 4100 0100 07 07"), (1, "0707"), (1, "07")],
            [invalid, closed, invalid, invalid],
            [0x41]),
        Loss(
            "a frame that gets longer than it says", [(2, "0300 4100 01"), (1, "00 07 07"), (1, "07")],
            [invalid, closed, invalid], [0x41]),
        Loss("a broadcast", [(6, "0300 4000 0100 07")], [invalid, closed, closed], [0x40, 0x41]),
    ]

    /// A link on which the peer has opened two channels, 0x50 and 0x51 on its side, 0x40 and 0x41 on this one.
    private mutating func connect() throws -> LinkIdentifier {
        let listener = ChannelListener(parameters: ChannelParameters(mtu: 256, mps: 64, window: 4))
        #expect(try controller.host.listen(on: nil, listener: listener) == 0x80)
        let link = try controller.connect()
        controller.receiveFrame(bytes("14 01 0A00 8000 5000 6400 1700 0200"), on: 0x05)
        controller.receiveFrame(bytes("14 02 0A00 8000 5100 6400 1700 0200"), on: 0x05)
        _ = controller.takeData()
        _ = controller.takeEvents()
        return link
    }

    @Test(
        "A loss closes the affected channel, or all channels if it is unknown which one is affected", arguments: losses)
    mutating func lost(_ loss: Loss) throws {
        let link = try connect()
        for packet in loss.packets {
            let data = bytes(packet.data)
            controller.receive([0x02, 0x40, packet.flags << 4, UInt8(data.count), 0] + data)
        }
        controller.settle()
        #expect(controller.takeEvents() == loss.events)
        let requests = loss.closed.enumerated().map { index, endpoint in
            [0x05, 0, 0x06, UInt8(index + 1), 4, 0, endpoint + 0x10, 0, endpoint, 0]
        }
        #expect(controller.takeData().map { Array($0[6...]) } == requests)
        #expect(controller.host.information(of: link) != nil)
        // The others go on.
        for endpoint: UInt8 in [0x40, 0x41] where !loss.closed.contains(endpoint) {
            controller.receiveFrame(bytes("0100 07"), on: endpoint)
        }
        #expect(controller.takeEvents().count == 2 - loss.closed.count)
    }

    @Test("A channel that its user has closed is not reported as lost")
    mutating func closing() throws {
        let link = try connect()
        let channel = try #require(controller.host.links.at[0].signalling.channels.open.first)
        // Two SDUs use up the peer's credits, and a third has to wait.
        for _ in 0..<3 { _ = try controller.host.send([7], over: channel, on: link) }
        controller.host.closeChannel(channel, on: link, at: controller.now)
        controller.receiveFragment(bytes("0600 4000 0400 01"))
        controller.receiveFragment(bytes("0300 0500 010000"))
        #expect(controller.takeEvents() == [Self.interrupted])
        _ = controller.takeData()
        controller.receiveFrame(bytes("16 03 0400 5000 0100"), on: 0x05)
        #expect(
            controller.takeData().map { Array($0[6...]) } == [
                bytes("5000 0100 07"), bytes("0500 06 01 0400 5000 4000"),
            ])
    }
}
