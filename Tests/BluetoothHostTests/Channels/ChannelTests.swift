import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP
import BluetoothSimulation
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("Credit-based channels of a host")
struct ChannelTests {
    var controller = ScriptedController.ready()

    /// The payloads of the L2CAP frames that were sent, with their channels.
    private mutating func sent() -> [[UInt8]] { controller.takeData().map { Array($0[6...]) } }

    private mutating func send(
        _ sdu: [UInt8], over channel: CreditBasedChannel.ID, on link: LinkIdentifier
    ) throws(HostError) -> Bool {
        try controller.host.send(sdu, over: channel, on: link)
    }

    private mutating func writeCommand(_ value: [UInt8], on link: LinkIdentifier) throws(HostError) -> Bool {
        try controller.host.writeWithoutResponse(value.span, to: 3, on: link)
    }

    /// The SDUs received since the last call.
    private mutating func received() -> [[UInt8]] {
        defer { controller.seen.removeAll() }
        return controller.seen.compactMap { seen in
            if case .channel(_, .received) = seen.event { seen.bytes } else { nil }
        }
    }

    /// A link on which the peer has opened a channel to SPSM 0x80: it takes SDUs of 100 octets in K-frames of 23, and
    /// has given `credits`.
    private mutating func accept(
        credits: UInt8 = 2, window: UInt16 = 4
    ) throws -> (LinkIdentifier, CreditBasedChannel.ID) {
        let listener = ChannelListener(parameters: ChannelParameters(mtu: 256, mps: 64, window: window))
        #expect(try controller.host.listen(on: nil, listener: listener) == 0x80)
        let link = try controller.connect()
        controller.receiveFrame(bytes("14 01 0A00 8000 5000 6400 1700 \(hexadecimal(credits)) 00"), on: 0x05)
        let opened = controller.seen.compactMap { seen -> CreditBasedChannel.ID? in
            if case .channel(_, .opened(let id, _, by: .peer)) = seen.event { id } else { nil }
        }
        #expect(sent() == [bytes("0500 15 01 0A00 4000 0001 4000 \(hexadecimal(UInt8(window))) 00 0000")])
        controller.seen.removeAll()
        return (link, try #require(opened.first))
    }

    @Test("L2CAP/LE/CFC/BV-04: a peer opens a channel, and both sides send")
    mutating func accepted() throws {
        let (link, channel) = try accept()
        #expect(controller.host.information(of: channel, on: link)?.peerMTU == 100)
        #expect(try send(bytes("AABB"), over: channel, on: link) == true)
        controller.settle()
        #expect(sent() == [bytes("5000 0200 AABB")])
        controller.receiveFrame(bytes("0300 010203"), on: 0x40)
        #expect(received() == [bytes("010203")])
        controller.host.consume(3, of: channel, on: link)
        controller.settle()
        #expect(sent() == [])
        controller.receiveFrame(bytes("0100 07"), on: 0x40)
        controller.host.consume(1, of: channel, on: link)
        controller.settle()
        #expect(sent() == [bytes("0500 16 01 0400 4000 0200")])
    }

    @Test("L2, L2CAP/LE/CFC/BV-30, BV-31: an SDU in several K-frames and packets is reassembled")
    mutating func reassembled() throws {
        _ = try accept()
        let sdu = (0..<100).map { UInt8($0) }
        let first = frame(bytes("6400") + sdu[0..<62], on: 0x40)
        controller.receiveFragment(Array(first[0..<3]))
        controller.receiveFragment(Array(first[3..<40]), 0x40, .continuing)
        controller.receiveFragment(Array(first[40...]), 0x40, .continuing)
        #expect(received() == [])
        controller.receiveFrame(Array(sdu[62...]), on: 0x40)
        #expect(received() == [sdu])
    }

    @Test("L2CAP/LE/CFC/BV-03: this host opens a channel")
    mutating func opened() throws {
        let link = try controller.connect()
        let channel = try controller.host.openChannel(
            to: 0x25, parameters: ChannelParameters(mtu: 256, mps: 64, window: 4), on: link, at: controller.now)
        controller.settle()
        #expect(sent() == [bytes("0500 14 01 0A00 2500 4000 0001 4000 0400")])
        controller.receiveFrame(bytes("15 01 0A00 5000 6400 1700 0100 0000"), on: 0x05)
        #expect(controller.takeEvents() == ["channel opened"])
        controller.host.closeChannel(channel, on: link, at: controller.now)
        controller.settle()
        #expect(sent() == [bytes("0500 06 02 0400 5000 4000")])
        #expect(throws: HostError.noSuchChannel) { _ = try send([1], over: channel, on: link) }
        #expect(controller.takeEvents() == [])
        controller.receiveFrame(bytes("07 02 0400 5000 4000"), on: 0x05)
        #expect(controller.takeEvents() == ["channel closed: \(ChannelEnd.byThisDevice)"])
    }

    @Test("L2CAP/ECFC/BV-01: this host opens several channels at once")
    mutating func openedSeveral() throws {
        let link = try controller.connect()
        let channels = try controller.host.openChannels(
            2, to: 0x25, parameters: ChannelParameters(mtu: 256, mps: 64, window: 4), on: link, at: controller.now)
        controller.settle()
        #expect(sent() == [bytes("0500 17 01 0C00 2500 0001 4000 0400 4000 4100")])
        controller.receiveFrame(bytes("18 01 0C00 6400 4000 0100 0400 5000 0000"), on: 0x05)
        #expect(
            controller.takeEvents() == [
                "channel opened", "channel not opened: \(ChannelOpeningFailure.refused(.noResourcesAvailable))",
            ])
        try controller.host.reconfigure([channels[0]], mtu: 300, mps: 100, on: link, at: controller.now)
        controller.settle()
        #expect(sent() == [bytes("0500 19 02 0600 2C01 6400 4000")])
    }

    @Test("opening a channel times out if the peer stays silent, and channels end with their link")
    mutating func ends() throws {
        let (link, _) = try accept()
        // Otherwise the exchange of the MTU ends the link.
        controller.receiveFrame([0x03, 23, 0])
        controller.seen.removeAll()
        _ = try controller.host.openChannel(to: 0x25, on: link, at: controller.now)
        controller.run(for: .seconds(29))
        #expect(controller.takeEvents() == [])
        controller.run(for: .seconds(1))
        #expect(controller.takeEvents().contains("channel not opened: \(ChannelOpeningFailure.timedOut)"))
        _ = try controller.host.openChannel(to: 0x25, on: link, at: controller.now)
        controller.settle()
        controller.reportDisconnection()
        let events = controller.takeEvents()
        let expected = [
            "channel not opened: \(ChannelOpeningFailure.cancelled)", "channel closed: \(ChannelEnd.linkEnded)",
        ]
        #expect(events.filter { $0.hasPrefix("channel") } == expected)
        #expect(events.last?.hasPrefix("disconnected") == true)
    }

    @Test("invalid PSMs and parameters are rejected, and so are PSMs in use")
    mutating func refused() throws {
        let link = try controller.connect()
        for psm in [0, 0x100, 0xFFFF] as [UInt16] {
            #expect(throws: HostError.invalidParameters) {
                _ = try controller.host.listen(on: psm, listener: ChannelListener())
            }
        }
        let tooLong = ChannelParameters(mtu: 600, mps: 518)
        #expect(throws: HostError.invalidParameters) {
            _ = try controller.host.listen(on: nil, listener: ChannelListener(parameters: tooLong))
        }
        #expect(throws: HostError.invalidParameters) {
            _ = try controller.host.openChannel(to: 0x80, parameters: tooLong, on: link, at: controller.now)
        }
        for psm in SPSM.dynamic { #expect(try controller.host.listen(on: nil, listener: ChannelListener()) == psm) }
        #expect(throws: HostError.busy) { _ = try controller.host.listen(on: nil, listener: ChannelListener()) }
        #expect(throws: HostError.busy) { _ = try controller.host.listen(on: 0x85, listener: ChannelListener()) }
        controller.host.stopListening(on: 0x85)
        #expect(try controller.host.listen(on: nil, listener: ChannelListener()) == 0x85)
    }

    // MARK: Back-pressure

    @Test("data without a controller buffer waits in its channel, and does not hold up the link")
    mutating func withoutBuffers() throws {
        let (link, channel) = try accept(credits: 255)
        controller.completesPackets = false
        let sdu = (0..<100).map { UInt8($0) }
        #expect(try send(sdu, over: channel, on: link) == true)
        controller.settle()
        // Four buffers, and a fifth K-frame.
        #expect(sent().count == 4)
        #expect(controller.host.waitingCount(of: channel, on: link) == 1)
        #expect(controller.host.queuedFrameCount(of: link) == 0)
        // What goes over a fixed channel meanwhile goes first.
        #expect(try writeCommand([9], on: link) == true)
        controller.complete(0x40, 1)
        #expect(sent() == [bytes("0400 52 0300 09")])
        controller.complete(0x40, 1)
        #expect(sent() == [bytes("5000") + sdu[90..<100]])
        #expect(controller.host.waitingCount(of: channel, on: link) == 0)
    }

    @Test("data that waits for a controller buffer is sent when another link ends and frees its buffers")
    mutating func buffersOfAnotherLink() throws {
        let (link, channel) = try accept(credits: 255)
        let other = try controller.connect(0x41, to: DeviceAddress(2, kind: .public))
        controller.completesPackets = false
        for _ in 0..<3 { #expect(try writeCommand([9], on: other) == true) }
        let sdu = (0..<100).map { UInt8($0) }
        #expect(try send(sdu, over: channel, on: link) == true)
        controller.settle()
        let writes = Array(repeating: bytes("0400 52 0300 09"), count: 3)
        let frame: [UInt8] = bytes("5000 6400") + sdu[0..<21]
        #expect(sent() == writes + [frame], "these have all four buffers")
        controller.reportDisconnection(0x41)
        let parts: [Range<Int>] = [21..<44, 44..<67, 67..<90]
        #expect(sent() == parts.map { bytes("5000") + sdu[$0] })
        #expect(controller.host.waitingCount(of: channel, on: link) == 1, "the last K-frame waits for another buffer")
    }

    @Test("L2CAP/LE/CFC/BV-06: data waits for credits, and a full channel reports when it has room again")
    mutating func withoutCredits() throws {
        let (link, channel) = try accept(credits: 0)
        for _ in 0..<CreditBasedChannels.sendLimit {
            #expect(try send([7], over: channel, on: link) == true)
        }
        #expect(try send([8], over: channel, on: link) == false)
        controller.settle()
        #expect(sent() == [])
        controller.receiveFrame(bytes("16 02 0400 5000 0300"), on: 0x05)
        #expect(sent() == Array(repeating: bytes("5000 0100 07"), count: 3))
        #expect(controller.takeEvents() == [])
        controller.receiveFrame(bytes("16 03 0400 5000 0D00"), on: 0x05)
        #expect(controller.takeEvents() == ["channel ready to send"])
        #expect(sent().count == 13)
    }

    @Test("a full channel does not report that it has room again after its link has ended")
    mutating func fullAtTheEnd() throws {
        let (link, channel) = try accept(credits: 255)
        controller.completesPackets = false
        // Only the controller's buffers are missing, and the end of the link frees them.
        while try send([7], over: channel, on: link) {}
        controller.settle()
        #expect(sent().count == 4)
        #expect(controller.host.waitingCount(of: channel, on: link) == CreditBasedChannels.sendLimit)
        controller.reportDisconnection()
        #expect(controller.takeEvents() == ["channel closed: \(ChannelEnd.linkEnded)", "disconnected \(link): 8"])
    }

    @Test("data that was written is sent before the channel closes")
    mutating func drained() throws {
        let (link, channel) = try accept(credits: 0)
        #expect(try send([7], over: channel, on: link) == true)
        controller.host.closeChannel(channel, on: link, at: controller.now)
        controller.settle()
        #expect(sent() == [] && controller.takeEvents() == [])
        controller.receiveFrame(bytes("16 02 0400 5000 0100"), on: 0x05)
        #expect(sent() == [bytes("5000 0100 07"), bytes("0500 06 01 0400 5000 4000")])
        controller.receiveFrame(bytes("07 01 0400 5000 4000"), on: 0x05)
        #expect(controller.takeEvents() == ["channel closed: \(ChannelEnd.byThisDevice)"])
    }

    // MARK: What is wrong

    @Test(
        "L14, L15: a protocol violation closes the channel, and nothing else",
        arguments: [("0100 AABB", .sduExceeded), ("0101 AA", .sduTooLong), ("AA", .lengthMissing)]
            as [(String, ChannelViolation)])
    mutating func violated(_ payload: String, _ violation: ChannelViolation) throws {
        let (link, _) = try accept()
        controller.receiveFrame(bytes(payload), on: 0x40)
        #expect(controller.takeEvents() == ["channel closed: \(ChannelEnd.violated(violation))"])
        #expect(sent() == [bytes("0500 06 01 0400 5000 4000")])
        #expect(controller.host.faults[.channelViolated] == 1)
        #expect(controller.host.information(of: link) != nil)
    }

    @Test("L3, L15: a frame longer than this host accepts closes its channel, and an overlong C-frame is rejected")
    mutating func tooLong() throws {
        _ = try accept()
        controller.receiveFragment(bytes("FFFF 4000 0100 AA"))
        #expect(
            controller.takeEvents().filter { $0.hasPrefix("channel") }
                == ["channel closed: \(ChannelEnd.violated(.frameTooLong))"])
        #expect(sent() == [bytes("0500 06 01 0400 5000 4000")])
        controller.receiveFragment(bytes("FFFF 0500 55 09 FBFF"))
        #expect(sent() == [bytes("0500 01 09 0400 0100 1700")])
        // On others it is dropped, and a response has no answer.
        for start in ["FFFF 0400 52", "FFFF 4100 0A", "FFFF 0500 13 09", "FFFF 0500 55", "FFFF 0500 55 00"] {
            controller.receiveFragment(bytes(start))
            #expect(sent() == [], "\(start)")
        }
    }

    @Test(
        "L5, L2CAP/LE/CID/BI-01: a frame on an unknown channel is dropped and counted",
        arguments: [0x20, 0x3F, 0x41, 0x7F] as [UInt8])
    mutating func unknown(_ channel: UInt8) throws {
        _ = try accept()
        controller.receiveFrame(bytes("0100 AA"), on: channel)
        #expect(sent() == [] && controller.takeEvents() == [])
        #expect(controller.host.faults[.channelUnknown] == 1)
    }

    // MARK: Security

    @Test(
        "L9, L2CAP/LE/CFC/BV-11, BV-13, BV-15, BV-25, ECFC/BV-13, BV-15, BV-17: refusals, in the order of 10.3.1",
        arguments: [
            (.none, LinkSecurity(), nil), (.encrypted, LinkSecurity(isEncrypted: true, encryptionKeySize: 16), nil),
            (.encrypted, LinkSecurity(), .insufficientAuthentication),
            (.encrypted, LinkSecurity(isBonded: true), .insufficientEncryption),
            (.authenticated, LinkSecurity(), .insufficientAuthentication),
            (.authenticated, LinkSecurity(isBonded: true), .insufficientEncryption),
            (
                .authenticated, LinkSecurity(isEncrypted: true, encryptionKeySize: 16),
                .insufficientAuthentication
            ),
            (.authenticated, LinkSecurity(isEncrypted: true, isAuthenticated: true, encryptionKeySize: 16), nil),
            (
                ChannelRequirement(minimumKeySize: 16), LinkSecurity(isEncrypted: true, encryptionKeySize: 15),
                .encryptionKeySizeTooShort
            ),
            (ChannelRequirement(minimumKeySize: 16), LinkSecurity(), .insufficientAuthentication),
            (ChannelRequirement(isAuthorized: true), LinkSecurity(), .insufficientAuthorization),
            (ChannelRequirement(isAuthorized: true), LinkSecurity(isAuthorized: true), nil),
        ] as [(ChannelRequirement, LinkSecurity, CreditBasedConnectionResult?)])
    func requirements(
        _ requirement: ChannelRequirement, _ security: LinkSecurity, _ refusal: CreditBasedConnectionResult?
    ) {
        #expect(requirement.refusal(on: security) == refusal)
    }

    @Test("a service that requires encryption refuses channels on an unencrypted link")
    mutating func insufficient() throws {
        _ = try controller.host.listen(on: 0x80, listener: ChannelListener(requirement: .encrypted))
        _ = try controller.connect()
        controller.receiveFrame(bytes("14 01 0A00 8000 5000 6400 1700 0200"), on: 0x05)
        #expect(sent() == [bytes("0500 15 01 0A00 0000 0000 0000 0000 0500")])
        controller.receiveFrame(bytes("17 02 0A00 8000 6400 4000 0200 5000"), on: 0x05)
        #expect(sent() == [bytes("0500 18 02 0A00 0000 0000 0000 0500 0000")])
        #expect(controller.takeEvents() == [])
    }
}
