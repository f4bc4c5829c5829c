import BluetoothBase
import BluetoothHCI
import Testing
import VirtualRadio

/// Core 5.4, Vol 6, Part B, 6.
@Suite("Controllers that generate and resolve private addresses")
struct PrivacyTests {
    static let centralKey: UInt128 = 0x1111, peripheralKey: UInt128 = 0x2222

    /// Both know each other, and resolve addresses.
    private func bench(
        peerKeys: Bool = true, mode: LESetPrivacyMode.Mode = .network, timeout: UInt16 = 60
    ) -> Bench {
        var bench = Bench()
        bench.unmask()
        for (id, peer, peerKey, ownKey) in [
            (bench.central, Bench.peripheralAddress, Self.peripheralKey, Self.centralKey),
            (bench.peripheral, Bench.centralAddress, Self.centralKey, Self.peripheralKey),
        ] {
            bench.prepare(
                id, LESetEventMask(eventMask: Bench.allEvents.union(.enhancedConnectionComplete)),
                LEAddDeviceToResolvingList(
                    peerIdentityAddress: peer, peerIRK: peerKeys ? peerKey : 0, localIRK: ownKey),
                LESetPrivacyMode(peerIdentityAddress: peer, mode: mode),
                LESetResolvablePrivateAddressTimeout(seconds: timeout), LESetAddressResolutionEnable(isEnabled: true))
        }
        return bench
    }

    private func advertise(
        _ bench: inout Bench, as type: OwnAddressType = .resolvableOrPublic,
        _ kind: LEAdvertisingType = .connectableUndirected
    ) {
        bench.startAdvertising(
            LESetAdvertisingParameters(
                intervalMin: LESlots(rawValue: 0xA0), intervalMax: LESlots(rawValue: 0xA0), type: kind,
                ownAddressType: type, peerAddress: Bench.centralAddress))
    }

    private func connect(_ bench: inout Bench, as type: OwnAddressType = .resolvableOrPublic) {
        var command = Bench.createConnection()
        command.ownAddressType = type
        bench.prepare(bench.central, command)
    }

    /// The addresses of LE Enhanced Connection Complete: the peer's with its type, its own and the peer's private ones.
    private func addresses(_ packets: [String]) throws -> (peer: String, own: String, peerPrivate: String) {
        let event = try #require(packets.first { $0.dropFirst(6).hasPrefix("0a") })
        let digits = Array(event)
        func part(_ range: Range<Int>) -> String { String(digits[(2 * range.lowerBound)..<(2 * range.upperBound)]) }
        return (part(8..<15), part(15..<21), part(21..<27))
    }

    @Test("Both sides use private addresses, and both hosts receive the identities and the addresses on the air")
    func bothPrivate() throws {
        var bench = bench()
        connect(&bench)
        advertise(&bench)
        bench.run(.milliseconds(200))
        let central = try addresses(bench.received(by: bench.central).map { $0.filter { $0 != " " }.lowercased() })
        let peripheral = try addresses(
            bench.received(by: bench.peripheral).map { $0.filter { $0 != " " }.lowercased() })
        #expect(central.peer == "02a00000000000")
        #expect(peripheral.peer == "02c00000000000")
        #expect(central.own == peripheral.peerPrivate && central.peerPrivate == peripheral.own)
        #expect(central.own != "000000000000" && peripheral.own != "000000000000" && central.own != peripheral.own)
    }

    @Test("Reports contain the identity, and a stranger sees an address that changes with the timeout")
    func rotation() throws {
        var bench = bench(timeout: 10)
        let stranger = bench.air.addController(
            ControllerConfiguration(publicAddress: DeviceAddress(0x51, kind: .public)))
        bench.prepare(stranger, SetEventMask(eventMask: EventMask(rawValue: .max)))
        for id in [bench.central, stranger] {
            bench.prepare(
                id,
                LESetScanParameters(type: .passive, interval: LESlots(rawValue: 0x10), window: LESlots(rawValue: 0x10)),
                LESetScanEnable(isEnabled: true, filterDuplicates: true))
        }
        advertise(&bench)
        bench.run(.seconds(35))
        let reports = bench.received(by: bench.central)
        #expect(reports.count == 1, "the filter of duplicates goes by identity, too")
        #expect(reports.first?.filter { $0 != " " }.hasPrefix("043E0C020100" + "02" + "A00000000000") == true)
        #expect(Set(bench.received(by: stranger)).count == 4)
    }

    /// A peer's key, the mode, the address type the peer uses, and whether it is received.
    static let modes: [(peerKeys: Bool, LESetPrivacyMode.Mode, OwnAddressType, Bool)] = [
        (true, .network, .public, false), (true, .network, .resolvableOrPublic, true),
        (true, .device, .public, true), (true, .device, .resolvableOrPublic, true), (false, .network, .public, true),
    ]

    @Test("In network privacy mode a device with a key is received only under private addresses", arguments: modes)
    func mode(_ peerKeys: Bool, _ mode: LESetPrivacyMode.Mode, _ type: OwnAddressType, _ isReceived: Bool) {
        var bench = bench(peerKeys: peerKeys, mode: mode)
        bench.prepare(
            bench.central,
            LESetScanParameters(type: .passive, interval: LESlots(rawValue: 0x10), window: LESlots(rawValue: 0x10)),
            LESetScanEnable(isEnabled: true))
        advertise(&bench, as: type)
        bench.run(.milliseconds(250))
        #expect(bench.received(by: bench.central).isEmpty != isReceived)
        bench.prepare(bench.central, LESetScanEnable(isEnabled: false))
        connect(&bench)
        bench.run(.milliseconds(250))
        #expect((bench.air[bench.central].connectionCount == 1) == isReceived)
    }

    @Test("The filter accept list holds identities")
    func acceptList() {
        for isListed in [true, false] {
            var bench = bench()
            let address = isListed ? Bench.peripheralAddress : DeviceAddress(0x77, kind: .public)
            var command = Bench.createConnection()
            command.filterPolicy = .acceptList
            command.ownAddressType = .resolvableOrPublic
            bench.prepare(bench.central, LEAddDeviceToFilterAcceptList(address: address), command)
            advertise(&bench)
            bench.run(.milliseconds(250))
            #expect((bench.air[bench.central].connectionCount == 1) == isListed)
        }
    }

    @Test("Directed advertising uses an address of the peer that the advertiser generates")
    func directed() {
        var bench = bench()
        connect(&bench)
        advertise(&bench, .connectableDirectedLowDutyCycle)
        bench.run(.milliseconds(250))
        #expect(bench.air[bench.central].connectionCount == 1)
        #expect(bench.air[bench.peripheral].connectionCount == 1)
    }

    @Test("Without privacy the commands are unknown")
    func without() {
        var bench = Bench(central: { $0.hasPrivacy = false })
        #expect(bench.answer(to: LEReadResolvingListSize(), from: bench.central).hasPrefix("04 0F"))
    }
}
