import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import Testing
import VirtualRadio

@Suite("Extended advertising between hosts")
struct ExtendedWorldTests {
    static let extended: @Sendable (inout ControllerConfiguration) -> Void = { $0.hasExtendedAdvertising = true }

    /// A scanner with extended advertising, and an advertiser with or without.
    struct Pair {
        var world = HostWorld()
        let scanner: Int
        let advertiser: Int

        init(scanner isScannerExtended: Bool = true, advertiser isExtended: Bool = true) {
            scanner = world.start { $0.hasExtendedAdvertising = isScannerExtended }
            advertiser = world.start { $0.hasExtendedAdvertising = isExtended }
        }

        mutating func seen(_ parameters: ScanParameters = ScanParameters()) throws -> (Advertisement, [UInt8])? {
            try world.hosts[scanner].startScanning(parameters, at: world.now)
            return world.next(scanner, within: .seconds(3)) { seen in
                guard case .advertisement(let advertisement) = seen.event else { return nil }
                return (advertisement, seen.bytes)
            }
        }

        mutating func advertise(_ parameters: AdvertisingParameters, as number: UInt8 = 0) throws {
            try world.hosts[advertiser].startAdvertising(
                parameters, as: AdvertisingHandle(number), at: world.now)
        }
    }

    @Test("up to 1650 octets arrive in one piece, with the PHYs and the SID", arguments: [1, 229, 230, 1650])
    func longData(_ length: Int) throws {
        var pair = Pair()
        var parameters = AdvertisingSetTests.beacon((0..<length).map { UInt8(truncatingIfNeeded: $0) })
        parameters.extended = ExtendedAdvertising(secondaryPHY: .le2M, sid: 5, includesTransmitPower: true)
        try pair.advertise(parameters)
        let (advertisement, data) = try #require(try pair.seen())
        #expect(data == parameters.data)
        #expect(advertisement.details == AdvertisingDetails(primaryPHY: .le1M, secondaryPHY: .le2M, sid: 5))
        #expect(advertisement.type == [])
    }

    @Test("advertising on LE Coded is received only by devices that scan there") func coded() throws {
        var pair = Pair()
        var parameters = AdvertisingSetTests.beacon()
        parameters.extended = ExtendedAdvertising(primaryPHY: .leCoded, secondaryPHY: .leCoded)
        try pair.advertise(parameters)
        #expect(try pair.seen() == nil)
        let (advertisement, _) = try #require(try pair.seen(ScanParameters(phys: [.le1M, .leCoded])))
        #expect(advertisement.details.primaryPHY == .leCoded)
    }

    @Test("legacy and extended devices see each other's legacy advertising", arguments: [true, false])
    func legacy(_ isExtended: Bool) throws {
        var pair = Pair(scanner: isExtended, advertiser: !isExtended)
        try pair.advertise(AdvertisingParameters(data: [2, 1, 6], scanResponse: [2, 10, 0]))
        let (advertisement, data) = try #require(try pair.seen())
        #expect(data == [2, 1, 6])
        #expect(advertisement.type == [.legacy, .connectable, .scannable])
        let response = pair.world.next(pair.scanner) { seen -> [UInt8]? in
            guard case .advertisement(let advertisement) = seen.event, advertisement.type.contains(.scanResponse)
            else { return nil }
            return seen.bytes
        }
        #expect(response == [2, 10, 0])
    }

    @Test("an active scan gets the long scan response of a scannable set") func scanResponse() throws {
        var pair = Pair()
        let response = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
        try pair.advertise(
            AdvertisingParameters(isConnectable: false, data: [], scanResponse: response, extended: .init()))
        let (advertisement, data) = try #require(try pair.seen())
        #expect(advertisement.type == [.scannable] && data.isEmpty)
        let asked = pair.world.next(pair.scanner) { seen -> [UInt8]? in
            guard case .advertisement(let advertisement) = seen.event,
                advertisement.type == [.scannable, .scanResponse]
            else { return nil }
            return seen.bytes
        }
        #expect(asked == response)
    }

    static let phys: [(AdvertisingPHY, AdvertisingPHY, ScanPHYs)] = [
        (.le1M, .le1M, .le1M), (.le1M, .le2M, .le1M), (.leCoded, .leCoded, .leCoded),
        (.leCoded, .le2M, [.le1M, .leCoded]),
    ]

    @Test("a connectable set accepts a connection on each PHY, and advertises again", arguments: phys)
    func connecting(_ primary: AdvertisingPHY, _ secondary: AdvertisingPHY, _ listening: ScanPHYs) throws {
        var pair = Pair()
        try pair.advertise(
            AdvertisingParameters(data: [2, 1, 6], extended: .init(primaryPHY: primary, secondaryPHY: secondary)))
        try pair.advertise(AdvertisingSetTests.beacon(), as: 1)
        let peer = PeerID(try #require(pair.world.hosts[pair.advertiser].controller?.address))
        _ = try pair.world.hosts[pair.scanner].connect(
            to: peer, timeout: .seconds(10), by: .advertising(listening), at: pair.world.now)
        let link = try #require(pair.world.next(pair.scanner) { $0.event.connectedLink })
        _ = try #require(pair.world.next(pair.advertiser) { $0.event.connectedLink })
        pair.world.run(for: .seconds(1))
        #expect(pair.world.air[pair.world.controllers[pair.advertiser]].enabledSetCount == 2)
        try pair.world.hosts[pair.scanner].disconnect(link, at: pair.world.now)
        #expect(pair.world.next(pair.advertiser) { $0.event.disconnection } != nil)
    }

    @Test("a new private address reaches every set") func rotation() throws {
        var world = HostWorld()
        let scanner = world.start(Self.extended)
        let device = world.start(Self.extended) {
            $0.security = SecurityConfiguration(
                crypto: HostWorld.crypto, entropy: SeededGenerator(seed: 9), resolvingKey: HostWorld.key(of: 9))
            $0.privacy = .resolvable(rotation: .seconds(60))
        }
        for number in 0..<3 {
            try world.hosts[device].startAdvertising(
                number == 0 ? AdvertisingParameters(data: [2, 1, 6]) : AdvertisingSetTests.beacon([UInt8(number)]),
                as: AdvertisingHandle(UInt8(number)), at: world.now)
        }
        try world.hosts[scanner].startScanning(ScanParameters(), at: world.now)
        var former: Set<DeviceAddress> = []
        for _ in 0..<3 {
            world.run(for: .seconds(2))
            let seen = world.seen[scanner].compactMap { seen -> Advertisement? in
                if case .advertisement(let advertisement) = seen.event { advertisement } else { nil }
            }
            world.seen[scanner].removeAll()
            let own = try #require(world.hosts[device].privateAddress)
            #expect(Set(seen.map(\.address)) == [own])
            #expect(Set(seen.map(\.details.sid)) == [nil, 1, 2])
            #expect(former.insert(own).inserted)
            world.run(for: .seconds(59))
            world.seen[scanner].removeAll()
        }
    }

    @Test("sets end by duration and by number of events, and their end is reported") func ending() throws {
        var pair = Pair()
        var timed = AdvertisingSetTests.beacon([1])
        timed.duration = .milliseconds(500)
        var counted = AdvertisingSetTests.beacon([2])
        counted.maximumEvents = 3
        try pair.world.hosts[pair.scanner].startScanning(ScanParameters(), at: pair.world.now)
        pair.world.settle()
        try pair.advertise(timed)
        try pair.advertise(counted, as: 1)
        pair.world.run(for: .seconds(2))
        let told = pair.world.seen[pair.advertiser].map(\.event.brief)
        #expect(told.suffix(2) == ["advertising 1 ended", "advertising ended"])
        let octets = pair.world.seen[pair.scanner].filter { if case .advertisement = $0.event { true } else { false } }
        #expect(octets.count { $0.bytes == [2] } == 3)
        #expect(pair.world.air[pair.world.controllers[pair.advertiser]].enabledSetCount == 0)
    }
}
