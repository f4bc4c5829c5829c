import BluetoothATT
import BluetoothBase
import BluetoothGATT
import TestSupport
import Testing

@testable import BluetoothHost

/// Two characteristics whose client has subscribed to both. Its ATT_MTU is 23 octets.
@Suite("Several values in one notification (Vol 3, Part F, 3.4.7.4 and Part G, 4.10.2)")
struct JoinedNotificationTests {
    var scene = EnhancedBearerScene()
    var one: AttributeHandle = 0
    var two: AttributeHandle = 0

    /// The client understands what `features` says. Every buffer of the controller is taken.
    private mutating func connect(features: String) throws {
        try publish()
        try scene.connect(isEncrypted: false)
        subscribe()
        scene.receive("12 0B00 \(features)")
        scene.controller.completesPackets = false
        for number: UInt8 in 0..<8 { try notify(one, [number]) }
        #expect(scene.sent().count == 8)
    }

    private mutating func publish() throws {
        one = try scene.publish(.variableLength([]), [.read, .notify])
        two = try scene.publish(.variableLength([]), [.read, .notify])
    }

    private mutating func subscribe(on channel: UInt8 = 0x04) {
        for value in [one, two] {
            let request = "12 \(AttributeHandle(value.rawValue + 1).text) 0100"
            scene.receive(channel == 0x04 ? request : "0500" + request, on: channel)
        }
    }

    private mutating func notify(_ handle: AttributeHandle, _ value: [UInt8]) throws {
        #expect(try scene.controller.host.notify(handle, value: value.span, on: scene.link))
    }

    /// What is sent when the controller has room for one packet more.
    private mutating func next() -> [[UInt8]] {
        scene.controller.complete(scene.handle, 1)
        return scene.sent()
    }

    @Test("Waiting notifications are sent together, in order, as many as fit")
    mutating func joined() throws {
        try connect(features: "04")
        try notify(one, [1, 2, 3])
        try notify(two, [4])
        try notify(one, [])
        // With this one there would be 24 octets.
        try notify(two, [5, 6, 7])
        try notify(one, [8])
        #expect(scene.sent() == [])
        #expect(next() == [bytes("0400 23 \(one.text) 0300 010203 \(two.text) 0100 04 \(one.text) 0000")])
        #expect(next() == [bytes("0400 23 \(two.text) 0300 050607 \(one.text) 0100 08")])
        #expect(next() == [])
    }

    @Test("Joined notifications have up to as many octets as the ATT_MTU", arguments: [(10, true), (11, false)])
    mutating func greatestLength(_ length: Int, fits: Bool) throws {
        try connect(features: "04")
        let value = [UInt8](repeating: 9, count: length)
        try notify(one, value)
        try notify(two, [1, 2, 3, 4])
        let first = next()
        #expect(first.first?.count == (fits ? 2 + 23 : 2 + 3 + length))
        #expect(first.first?[2] == (fits ? 0x23 : 0x1B))
        #expect(next() == (fits ? [] : [bytes("0400 1B \(two.text) 01020304")]))
    }

    @Test("A notification that waits alone, or doesn't fit with the next one, is sent alone")
    mutating func alone() throws {
        try connect(features: "04")
        try notify(one, [1])
        #expect(next() == [bytes("0400 1B \(one.text) 01")])
        let long = [UInt8](repeating: 9, count: 20)
        try notify(one, long)
        try notify(two, [2])
        #expect(next() == [bytes("0400 1B \(one.text)") + long])
        #expect(next() == [bytes("0400 1B \(two.text) 02")])
    }

    @Test("No notification overtakes a response")
    mutating func answers() throws {
        try connect(features: "04")
        try notify(one, [1])
        scene.receive("0A 0B00")
        try notify(one, [2])
        try notify(two, [3])
        #expect(next() == [bytes("0400 1B \(one.text) 01")])
        #expect(next() == [bytes("0400 0B 04")])
        #expect(next() == [bytes("0400 23 \(one.text) 0100 02 \(two.text) 0100 03")])
    }

    @Test("A client that has not declared support gets each notification separately", arguments: ["00", "03"])
    mutating func notUnderstood(_ features: String) throws {
        try connect(features: features)
        try notify(one, [1])
        try notify(two, [2])
        #expect(next() == [bytes("0400 1B \(one.text) 01")])
        #expect(next() == [bytes("0400 1B \(two.text) 02")])
    }

    @Test("Notifications on a bearer without credits wait, and then use one credit together")
    mutating func onABearer() throws {
        try publish()
        try scene.connect()
        // Two for the answers to the subscriptions, one for a value.
        scene.open(1, mtu: "4000", credits: "0300")
        scene.receive("12 0B00 06")
        subscribe(on: 0x40)
        try notify(one, [1])
        #expect(scene.sent() == [bytes("5000 0400 1B \(one.text) 01")])
        try notify(one, [2])
        try notify(two, [3])
        #expect(scene.sent() == [])
        #expect(
            scene.receive("16 01 0400 5000 0100", on: 0x05)
                == [bytes("5000 0B00 23 \(one.text) 0100 02 \(two.text) 0100 03")])
        #expect(scene.controller.host.queuedFrameCount(of: scene.link) == 0)
    }
}
