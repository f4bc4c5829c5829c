import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothL2CAP

@Suite("L2CAP: closing credit-based channels")
struct ChannelClosingTests {
    var scene = ChannelScene()

    @Test("L2CAP/LE/CFC/BV-08: this device closes a channel")
    mutating func closed() throws {
        let id = try scene.accept()
        scene.signalling.close(id, at: scene.now)
        #expect(scene.owed() == .frames("06 01 04 00 50 00 40 00"))
        #expect(scene.signalling.channels[id] == nil && scene.signalling.channels.open.isEmpty)
        // Its endpoint is in use until the peer has agreed, which is when the peer has received everything.
        let (_, request) = try scene.request()
        #expect(request[6] == 0x41)
        #expect(scene.frame(bytes("01 00 AA")) == .ignored)
        #expect(scene.events() == [])
        #expect(scene.receive("07 01 04 00 50 00 40 00") == [])
        #expect(scene.events() == [.closed(id, .byThisDevice)])
        let (_, next) = try scene.request()
        #expect(next[6] == 0x40)
        #expect(scene.events() == [])
    }

    @Test("L2CAP/LE/CFC/BV-09: the peer closes a channel")
    mutating func closedByPeer() throws {
        let id = try scene.accept()
        #expect(scene.receive("06 07 04 00 40 00 50 00") == .frames("07 07 04 00 40 00 50 00"))
        #expect(scene.events() == [.closed(id, .byPeer)])
        #expect(scene.signalling.channels.isEmpty)
        // A second time there is no such channel.
        #expect(scene.receive("06 08 04 00 40 00 50 00") == .frames("01 08 06 00 02 00 40 00 50 00"))
        #expect(scene.frame(bytes("01 00 AA")) == .unknown)
    }

    @Test("L13: a request for another pair of endpoints closes nothing")
    mutating func otherEndpoints() throws {
        let id = try scene.accept()
        // The endpoint is this device's, but not that of the peer: silence (4.6).
        #expect(scene.receive("06 07 04 00 40 00 51 00") == [])
        #expect(scene.receive("06 08 04 00 50 00 40 00") == .frames("01 08 06 00 02 00 50 00 40 00"))
        #expect(scene.receive("06 09 04 00 04 00 04 00") == .frames("01 09 06 00 02 00 04 00 04 00"))
        #expect(scene.receive("06 0A 04 00 41 00 50 00") == .frames("01 0A 06 00 02 00 41 00 50 00"))
        #expect(scene.signalling.channels.open == [id])
    }

    @Test("both sides close a channel at the same time")
    mutating func crossing() throws {
        let id = try scene.accept()
        scene.signalling.close(id, at: scene.now)
        #expect(scene.owed().count == 1 && scene.events() == [])
        #expect(scene.receive("06 07 04 00 40 00 50 00") == .frames("07 07 04 00 40 00 50 00"))
        #expect(scene.events() == [.closed(id, .byThisDevice)])
        #expect(scene.signalling.channels.isEmpty)
        // The peer has none either by now.
        #expect(scene.receive("01 01 06 00 02 00 50 00 40 00") == [])
        #expect(scene.signalling.nextDeadline == nil)
        // Before the command that is owed was written, too.
        let again = try scene.accept()
        scene.signalling.close(again, at: scene.now)
        #expect(scene.receive("06 08 04 00 40 00 50 00") == .frames("07 08 04 00 40 00 50 00"))
        #expect(scene.signalling.channels.isEmpty)
    }

    @Test(
        "a closed channel's endpoint is free once the peer confirms, knows no such channel, or does not answer",
        arguments: ["07 01 04 00 50 00 40 00", "01 01 06 00 02 00 50 00 40 00", "01 01 02 00 00 00", nil])
    mutating func freed(_ answer: String?) throws {
        let id = try scene.accept()
        scene.signalling.close(id, at: scene.now)
        _ = scene.owed()
        #expect(scene.signalling.nextDeadline == Instant(nanoseconds: 30_000_000_000))
        if let answer {
            #expect(scene.receive(answer) == [])
        } else {
            #expect(scene.fire(at: 30_000_000_000) == .channelsChanged)
        }
        #expect(scene.events() == [.closed(id, answer == nil ? .timedOut : .byThisDevice)])
        #expect(scene.signalling.channels.isEmpty)
        #expect(scene.signalling.nextDeadline == nil)
    }

    @Test(
        "L12: a response with other endpoints or another identifier frees nothing",
        arguments: [
            "07 02 04 00 50 00 40 00", "07 01 04 00 51 00 40 00", "07 01 04 00 50 00 41 00", "07 01 03 00 50 00 40",
        ])
    mutating func otherResponse(_ response: String) throws {
        let id = try scene.accept()
        scene.signalling.close(id, at: scene.now)
        _ = scene.owed()
        #expect(scene.receive(response) == [])
        #expect(!scene.signalling.channels.isEmpty && scene.events() == [])
    }

    @Test("queued SDUs are sent before the channel closes")
    mutating func drained() throws {
        let id = try scene.accept()
        #expect(scene.send(ChannelDataTests.octets(50), on: id).count == 2)
        scene.signalling.close(id, at: scene.now)
        #expect(scene.events() == [] && scene.owed() == [])
        #expect(scene.signalling.nextDeadline == Instant(nanoseconds: 30_000_000_000))
        let waits = scene.signalling.channels.endDrained(at: scene.now)
        #expect(waits, "the rest waits for a credit")
        _ = scene.receive("16 01 04 00 50 00 05 00")
        #expect(scene.waiting(id) == [Array(ChannelDataTests.octets(50)[44..<50])])
        let stillWaits = scene.signalling.channels.endDrained(at: scene.now)
        #expect(!stillWaits)
        #expect(scene.owed() == .frames("06 01 04 00 50 00 40 00"))
        #expect(scene.events() == [])
        _ = scene.receive("07 01 04 00 50 00 40 00")
        #expect(scene.events() == [.closed(id, .byThisDevice)])
    }

    @Test("queued SDUs do not delay closing forever, or at all if the close is abrupt")
    mutating func notDrained() throws {
        let id = try scene.accept()
        _ = scene.send(ChannelDataTests.octets(90), on: id)
        scene.signalling.close(id, at: scene.now)
        // As long as the peer takes some of it, there is time.
        scene.now = Instant(nanoseconds: 29_000_000_000)
        _ = scene.receive("16 01 04 00 50 00 01 00")
        #expect(scene.waiting(id).count == 1)
        _ = scene.fire(at: 30_000_000_000)
        #expect(scene.owed() == [] && scene.signalling.nextDeadline == Instant(nanoseconds: 59_000_000_000))
        _ = scene.fire(at: 59_000_000_000)
        #expect(scene.owed() == .frames("06 01 04 00 50 00 40 00"))
        _ = scene.receive("07 01 04 00 50 00 40 00")
        #expect(scene.events() == [.closed(id, .timedOut)])
        let next = try scene.accept()
        _ = scene.send(ChannelDataTests.octets(50), on: next)
        scene.signalling.close(next, isAbrupt: true, at: scene.now)
        #expect(scene.owed() == .frames("06 02 04 00 50 00 40 00"))
    }

    @Test("a closed channel holds no data while it waits for the peer to confirm")
    mutating func holdsNothing() throws {
        let id = try scene.accept()
        #expect(scene.send(ChannelDataTests.octets(90), on: id).count == 2)
        // The beginning of an SDU of 100 octets.
        #expect(scene.frame(bytes("64 00 AA BB")) == .incomplete(needsCredits: false))
        scene.signalling.close(id, isAbrupt: true, at: scene.now)
        #expect(scene.owed() == .frames("06 01 04 00 50 00 40 00"))
        let channel = try #require(scene.signalling.channels.at.first)
        #expect(channel.id == id && channel.isInUse)
        #expect(channel.queue.isEmpty && channel.queue.ring.count == 1 && channel.partial.isEmpty)
    }

    @Test("an ID is invalid once its channel is closed, even if a new channel reuses the endpoint")
    mutating func names() throws {
        let old = try scene.accept()
        _ = scene.receive("06 07 04 00 40 00 50 00")
        _ = scene.events()
        let new = try scene.accept()
        #expect(old != new && old.cid == new.cid)
        #expect(scene.hasRoom(on: old) == false)
        #expect(scene.consume(1, on: old) == [])
        scene.signalling.close(old, at: scene.now)
        #expect(scene.events() == [] && scene.signalling.channels.open == [new])
    }

    @Test("the end of the link closes all channels and cancels pending requests")
    mutating func linkEnded() throws {
        let open = try scene.accept()
        _ = scene.receive("14 02 0A 00 80 00 51 00 64 00 17 00 02 00")
        guard case .opened(let closing, by: .peer)? = scene.events().last else { throw ChannelOpeningFailure.cancelled }
        // The peer may not have received everything.
        scene.signalling.close(closing, at: scene.now)
        let (opening, _) = try scene.request()
        scene.signalling.channels.linkEnded()
        #expect(
            scene.events() == [
                .openingFailed(opening, .cancelled), .closed(open, .linkEnded), .closed(closing, .linkEnded),
            ])
        #expect(scene.signalling.channels.isEmpty && scene.signalling.nextDeadline == nil)
    }
}
