import BluetoothBase
import BluetoothL2CAP
import TestSupport
import Testing

@Suite("L2CAP conformance: malformed commands")
struct SignallingConformanceTests {
    var scene = ChannelScene()

    static let request: [ChannelMode: String] = [
        .leCreditBased: "80 00 50 00 64 00 40 00 02 00", .enhanced: "80 00 64 00 40 00 02 00 50 00",
    ]
    static let response: [ChannelMode: String] = [
        .leCreditBased: "15 0A 0A 00 40 00 00 01 40 00 04 00 00 00",
        .enhanced: "18 0A 0A 00 00 01 40 00 04 00 00 00 40 00",
    ]

    /// A connection request without its identifier and data: the code.
    private func code(_ mode: ChannelMode) -> String { mode == .enhanced ? "17" : "14" }

    /// The same request as it should be is understood, and the channel can be closed.
    private mutating func expectUnderstood(_ mode: ChannelMode) throws {
        #expect(scene.signalling.channels.isEmpty)
        let request = try #require(Self.request[mode]), response = try #require(Self.response[mode])
        #expect(scene.receive("\(code(mode)) 0A 0A 00 " + request) == .frames(response))
        #expect(scene.receive("06 0B 04 00 40 00 50 00") == .frames("07 0B 04 00 40 00 50 00"))
    }

    @Test(
        "L2CAP/COS/CED/BI-09, BI-20: a connection request that claims more octets than its C-frame has is rejected",
        arguments: ChannelMode.allCases)
    mutating func claimsTooMuch(_ mode: ChannelMode) throws {
        let request = try #require(Self.request[mode])
        #expect(scene.receive("\(code(mode)) 09 0B 00 " + request) == .frames("01 09 02 00 00 00"))
        try expectUnderstood(mode)
    }

    @Test(
        "L2CAP/COS/CED/BI-13, BI-22: a connection request with an extra zero octet is rejected",
        arguments: ChannelMode.allCases)
    mutating func extraOctet(_ mode: ChannelMode) throws {
        let request = try #require(Self.request[mode])
        #expect(scene.receive("\(code(mode)) 09 0A 00 " + request + " 00") == .frames("01 09 02 00 00 00"))
        try expectUnderstood(mode)
    }

    @Test(
        "L2CAP/COS/CED/BI-11: a Disconnection Request with an extra octet is rejected",
        arguments: ChannelMode.allCases)
    mutating func disconnection(_ mode: ChannelMode) throws {
        let id = try scene.accept(mode)
        #expect(scene.receive("06 09 05 00 40 00 50 00 00") == .frames("01 09 02 00 00 00"))
        #expect(scene.signalling.channels.open == [id])
    }

    @Test(
        "L2CAP/COS/CED/BI-16, BI-24: two connection requests in one C-frame, the second one truncated, are rejected",
        arguments: ChannelMode.allCases)
    mutating func twoRequests(_ mode: ChannelMode) throws {
        let request = try #require(Self.request[mode])
        let other = request.replacing("50 00", with: "51 00")
        // 28 octets, more than the signalling MTU.
        #expect(
            scene.receive("\(code(mode)) 08 0A 00 \(request) \(code(mode)) 09 0B 00 \(other)")
                == .frames("01 08 04 00 01 00 17 00"))
        try expectUnderstood(mode)
    }

    @Test(
        "L2CAP/COS/CED/BI-17, BI-25: a connection request and a truncated Disconnection Request in one C-frame are rejected",
        arguments: ChannelMode.allCases)
    mutating func requestAndDisconnection(_ mode: ChannelMode) throws {
        let request = try #require(Self.request[mode])
        #expect(
            scene.receive("\(code(mode)) 08 0A 00 \(request) 06 09 05 00 40 00 50 00") == .frames("01 08 02 00 00 00"))
        try expectUnderstood(mode)
    }

    @Test(
        "L2CAP/LE/REJ/BI-02: commands that are reserved, or not used on LE, are rejected as not understood",
        arguments: LinkRole.allCases)
    mutating func unknownCommands(_ role: LinkRole) {
        scene.signalling = SignallingChannel(role: role)
        for code in [0x02, 0x04, 0x08, 0x0A, 0x0C, 0x0E, 0x10] + Array(0x1B...0xFF) as [UInt8] {
            #expect(scene.receive("\(hexadecimal(code)) 05 00 00") == .frames("01 05 02 00 00 00"), "\(code)")
        }
        // A response may be rejected. One that is known as such is not answered.
        for code in [0x03, 0x05, 0x09, 0x0B] as [UInt8] {
            #expect(scene.receive("\(hexadecimal(code)) 05 00 00") == [], "\(code)")
        }
        for code in [0x0D, 0x0F, 0x11] as [UInt8] {
            #expect(scene.receive("\(hexadecimal(code)) 05 00 00") == .frames("01 05 02 00 00 00"), "\(code)")
        }
    }

    @Test(
        "L2CAP/COS/CED/BI-29: wrong and repeated responses are ignored, and no identifier is reused before all are used"
    )
    mutating func identifiers() throws {
        var used: Set<UInt8> = []
        func agreement(_ identifier: UInt8) -> String {
            "15 \(hexadecimal(identifier)) 0A 00 50 00 64 00 17 00 02 00 00 00"
        }
        for round in 0..<255 {
            let (id, request) = try scene.request()
            #expect(used.insert(request[1]).inserted && request[1] != 0)
            #expect(scene.receive(agreement(round == 1 ? request[1] &+ 7 : 0)) == [])
            #expect(scene.events() == [])
            // No answer arrives.
            #expect(scene.fire(at: scene.now.advanced(by: .seconds(30)).nanoseconds) == .channelsChanged)
            #expect(scene.events() == [.openingFailed(id, .timedOut)])
        }
        // All identifiers have been used, so that the next request has one of them again.
        let (id, request) = try scene.request()
        #expect(used.contains(request[1]))
        #expect(scene.receive(agreement(request[1])) == [])
        #expect(scene.events() == [.opened(id, by: .thisDevice)])
        #expect(scene.receive(agreement(request[1])) == [])
        #expect(scene.events() == [])
        #expect(scene.receive("06 01 04 00 40 00 50 00") == .frames("07 01 04 00 40 00 50 00"))
    }
}
