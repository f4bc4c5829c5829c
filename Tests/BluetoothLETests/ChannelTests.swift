import BluetoothAdapter
import BluetoothHost
import BluetoothL2CAP
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("L2CAP channels", .timeLimit(.minutes(30)))
struct ChannelTests {
    /// A channel, as both sides have it.
    private func channel(
        _ scene: Scene, _ parameters: ChannelParameters = ChannelParameters()
    ) async throws -> (ours: L2CAPChannel, theirs: L2CAPChannel, service: ChannelService) {
        let service = try await scene.peripheral.listen(parameters: parameters)
        let ours = try await scene.connection.openChannel(to: service.psm, parameters: parameters)
        var channels = service.makeAsyncIterator()
        let theirs = try #require(try await channels.next())
        return (ours, theirs, service)
    }

    private static func octets(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) } }

    /// The octets of a channel until there are as many, or it ends.
    private static func read(_ count: Int, from channel: L2CAPChannel) async throws(BluetoothError) -> [UInt8] {
        var octets: [UInt8] = []
        while octets.count < count, let more = try await channel.read() { octets += more }
        return octets
    }

    @Test("Data arrives complete and in order in both directions", arguments: [1, 100, 2048, 50_000])
    func bothWays(_ count: Int) async throws {
        let scene = try await Scene()
        let (ours, theirs, service) = try await channel(scene)
        #expect(ours.psm == service.psm && theirs.psm == service.psm && SPSM.dynamic.contains(service.psm))
        #expect(theirs.connection.role == .peripheral)
        let octets = Self.octets(count)
        for (sender, receiver) in [(ours, theirs), (theirs, ours)] {
            let sending = Task { try await sender.write(octets) }
            #expect(try await Self.read(count, from: receiver) == octets)
            try await sending.value
        }
    }

    @Test("A reader that stalls makes the writer wait, and no data is lost")
    func slowReader() async throws {
        let scene = try await Scene()
        let (ours, theirs, _) = try await channel(scene, ChannelParameters(mtu: 100, mps: 102, window: 4))
        let octets = Self.octets(10_000)
        let sending = Task { try await ours.write(octets) }
        await until { theirs.stream.received.count == 4 }
        // Another call on the link works meanwhile.
        #expect(try await scene.works())
        #expect(theirs.stream.received.count == 4)
        #expect(try await Self.read(octets.count, from: theirs) == octets)
        try await sending.value
    }

    @Test("Data written before the close arrives, and then the channel ends")
    func closed() async throws {
        let scene = try await Scene()
        let (ours, theirs, _) = try await channel(scene)
        try await ours.write(Self.octets(5000))
        let closing = Task { try await ours.close() }
        #expect(try await Self.read(.max, from: theirs) == Self.octets(5000))
        try await closing.value
        #expect(try await theirs.read() == nil)
        #expect(try await ours.read() == nil)
        await #expect(throws: BluetoothError.channelClosed(.byThisDevice)) { try await ours.write([1]) }
        await #expect(throws: BluetoothError.channelClosed(.byPeer)) { try await theirs.write([1]) }
        // A second time there is nothing to do.
        try await ours.close()
        try await theirs.close()
        #expect(try await scene.works())
    }

    @Test("Closing waits until the peer has received everything, and fails if the link ends first")
    func closedWhenReceived() async throws {
        let scene = try await Scene()
        let (ours, theirs, _) = try await channel(scene, ChannelParameters(mtu: 100, mps: 102, window: 1))
        try await ours.write(Self.octets(300))
        let closing = Task { try await ours.close() }
        await until { theirs.stream.received.count == 1 }
        try await scene.connection.disconnect()
        // Two SDUs have never left.
        await #expect(throws: BluetoothError.disconnected(.byThisDevice)) { try await closing.value }
        // Whoever closes it only now has to know as well.
        await #expect(throws: BluetoothError.disconnected(.byThisDevice)) { try await ours.close() }
    }

    @Test("Closing a channel that the peer has closed fails if data was still unsent")
    func closedByPeer() async throws {
        let scene = try await Scene()
        let (ours, theirs, _) = try await channel(scene, ChannelParameters(mtu: 100, mps: 102, window: 1))
        // One SDU goes, and three wait for credits, which a reader that takes nothing does not give.
        try await ours.write(Self.octets(400))
        await until { theirs.stream.received.count == 1 }
        try await theirs.close()
        await until { ours.stream.isClosed }
        await #expect(throws: BluetoothError.channelClosed(.byPeer)) { try await ours.close() }
        #expect(try await ours.read() == nil)
    }

    @Test("Several enhanced channels can be opened at once and reconfigured")
    func several() async throws {
        let scene = try await Scene()
        let parameters = ChannelParameters(mtu: 100, mps: 64, window: 4)
        let service = try await scene.peripheral.listen(parameters: parameters)
        let ours = try await scene.connection.openChannels(3, to: service.psm, parameters: parameters)
        var channels = service.makeAsyncIterator()
        var theirs: [L2CAPChannel] = []
        while theirs.count < 3, let channel = try await channels.next() { theirs.append(channel) }
        #expect(ours.count == 3 && ours.allSatisfy { $0.information.kind == .enhanced && $0.psm == service.psm })
        for (index, channel) in ours.enumerated() {
            let sending = Task { try await channel.write(Self.octets(1000 + index)) }
            #expect(try await Self.read(1000 + index, from: theirs[index]) == Self.octets(1000 + index))
            try await sending.value
        }
        try await ours[0].reconfigure(mtu: 500, mps: 100)
        try await theirs[0].write(Self.octets(400))
        #expect(try await Self.read(400, from: ours[0]) == Self.octets(400))
        await #expect(throws: BluetoothError.invalidParameters) { try await ours[1].reconfigure(mtu: 99, mps: 64) }
        await #expect(throws: BluetoothError.invalidParameters) {
            _ = try await scene.connection.openChannels(6, to: service.psm, parameters: parameters)
        }
        try await ours[1].close()
        await #expect(throws: BluetoothError.channelClosed(.byThisDevice)) {
            try await ours[1].reconfigure(mtu: 500, mps: 64)
        }
        #expect(try await scene.works())
    }

    @Test("An LE credit-based channel cannot be reconfigured, and a link has no more than 32 channels")
    func notReconfigured() async throws {
        let scene = try await Scene()
        let (ours, theirs, service) = try await channel(scene)
        defer { withExtendedLifetime(theirs) {} }
        await #expect(throws: BluetoothError.invalidParameters) { try await ours.reconfigure(mtu: 4096, mps: 247) }
        var held: [L2CAPChannel] = []
        for _ in 0..<6 { held += try await scene.connection.openChannels(5, to: service.psm) }
        #expect(held.count == 30)
        // One of 32 is left here, and at the peer.
        await #expect(throws: BluetoothError.tooManyPending) {
            _ = try await scene.connection.openChannels(2, to: service.psm)
        }
        held += try await scene.connection.openChannels(1, to: service.psm)
        #expect(held.count == 31)
    }

    @Test("A channel is closed when its last reference is released")
    func released() async throws {
        let scene = try await Scene()
        let service = try await scene.peripheral.listen()
        var ours: L2CAPChannel? = try await scene.connection.openChannel(to: service.psm)
        var channels = service.makeAsyncIterator()
        let theirs = try #require(try await channels.next())
        #expect(ours != nil)
        ours = nil
        #expect(try await theirs.read() == nil)
    }

    @Test("A channel ends with its link, and calls on it throw the reason")
    func linkEnded() async throws {
        let scene = try await Scene()
        let (ours, theirs, _) = try await channel(scene)
        try await scene.connection.disconnect()
        await #expect(throws: BluetoothError.disconnected(.byThisDevice)) { _ = try await ours.read() }
        await #expect(throws: BluetoothError.disconnected(.byPeer)) { _ = try await theirs.read() }
        await #expect(throws: BluetoothError.disconnected(.byThisDevice)) { try await ours.write([1]) }
    }

    @Test("Opening a channel fails for an unknown or invalid PSM, or without the required security")
    func refused() async throws {
        let scene = try await Scene()
        await #expect(throws: BluetoothError.channelRefused(.refused(.spsmNotSupported))) {
            _ = try await scene.connection.openChannel(to: 0x80)
        }
        // 0x27 is the Enhanced Attribute Protocol's.
        for psm in [0, 0x27, 0x100] as [UInt16] {
            await #expect(throws: BluetoothError.invalidParameters) {
                _ = try await scene.connection.openChannel(to: psm)
            }
            await #expect(throws: BluetoothError.invalidParameters) {
                _ = try await scene.connection.openChannels(1, to: psm)
            }
            await #expect(throws: BluetoothError.invalidParameters) { _ = try await scene.peripheral.listen(on: psm) }
        }
        let service = try await scene.peripheral.listen(requirement: .encrypted)
        await #expect(throws: BluetoothError.channelRefused(.refused(.insufficientAuthentication))) {
            _ = try await scene.connection.openChannel(to: service.psm)
        }
    }

    @Test("A PSM has one listener at a time, and is free again once that listener ends")
    func offered() async throws {
        let scene = try await Scene()
        var service: ChannelService? = try await scene.peripheral.listen(on: 0x25)
        #expect(service?.psm == 0x25)
        await #expect(throws: BluetoothError.tooManyPending) { _ = try await scene.peripheral.listen(on: 0x25) }
        let other = Adapter(scene.peripheral.router.runner)
        try await other.waitUntilReady()
        await #expect(throws: BluetoothError.tooManyPending) { _ = try await other.listen(on: 0x25) }
        service = nil
        service = try await other.listen(on: 0x25)
        await other.close()
        service = try await scene.peripheral.listen(on: 0x25)
    }

    @Test("Cancelling a read or a write ends that call and leaves the channel open")
    func cancelled() async throws {
        let scene = try await Scene()
        let (ours, theirs, _) = try await channel(scene, ChannelParameters(mtu: 64, mps: 64, window: 1))
        let reading = Task { try await ours.read() }
        let writing = Task { try await ours.write(Self.octets(10_000)) }
        await until { theirs.stream.received.count == 1 }
        reading.cancel()
        writing.cancel()
        await #expect(throws: BluetoothError.cancelled) { _ = try await reading.value }
        await #expect(throws: BluetoothError.cancelled) { try await writing.value }
        try await theirs.write([1, 2, 3])
        #expect(try await ours.read() == [1, 2, 3])
    }
}
