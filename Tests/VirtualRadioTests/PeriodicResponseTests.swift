import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing
import VirtualRadio

@Suite("Periodic advertising with responses, and sync transfer")
struct PeriodicResponseTests {
    typealias Periodic = PeriodicAdvertisingTests

    /// Two subevents of 25 ms, each with four response slots of 1 ms, 10 ms after it.
    static let parameters = LESetPeriodicAdvertisingParametersV2(
        advertisingHandle: Periodic.set, intervalMin: Periodic.interval, intervalMax: Periodic.interval,
        subeventCount: 2, subeventInterval: 20, responseSlotDelay: 8, responseSlotSpacing: 8, responseSlotCount: 4)

    static func subevent(_ number: UInt8, _ data: [UInt8]) -> LESetPeriodicAdvertisingSubeventData {
        LESetPeriodicAdvertisingSubeventData(
            advertisingHandle: Periodic.set,
            subevents: [.init(number: number, responseSlotStart: 0, responseSlotCount: 4, data: data)])
    }

    /// A central that is synchronized and listens to subevent 1.
    static func bench() -> Bench {
        var bench = Periodic.bench(responses: true)
        bench.prepare(bench.peripheral, ExtendedAdvertisingTests.parameters(), parameters)
        bench.prepare(bench.peripheral, ExtendedAdvertisingTests.enable())
        bench.send(Periodic.on, from: bench.peripheral)
        bench.prepare(bench.central, ExtendedAdvertisingTests.scan(.passive), LESetExtendedScanEnable(isEnabled: true))
        bench.prepare(bench.central, Periodic.sync())
        return bench
    }

    static func respond(_ event: UInt16, slot: UInt8, _ data: [UInt8]) -> LESetPeriodicAdvertisingResponseData {
        LESetPeriodicAdvertisingResponseData(
            syncHandle: SyncHandle(0x20), requestEvent: event, requestSubevent: 1, responseSubevent: 1,
            responseSlot: slot,
            data: data)
    }

    @Test("the host is asked for data, which is sent once, and the response is reported") func exchange() {
        var bench = Self.bench()
        #expect(bench.told(bench.peripheral) == ["043e0427030002", "040e0401402000"])
        // The first event is over when the central learns of it.
        bench.run(.milliseconds(150))
        #expect(bench.answered(Self.subevent(0, [5]), bench.peripheral) == "040e050182200003")
        bench.run(.milliseconds(60))
        bench.expect("043e1424" + Periodic.established + "02140808")
        #expect(
            bench.answered(LESetPeriodicSyncSubevent(syncHandle: SyncHandle(0x20), subevents: [1]), bench.central)
                == "040e06018420002000")
        bench.prepare(bench.peripheral, Self.subevent(1, [6, 7]))
        bench.run(.milliseconds(16))
        bench.expect("043e0d25" + Periodic.report + "010001" + "0002" + "0607")
        #expect(bench.answered(Self.respond(1, slot: 2, [8, 9]), bench.central) == "040e06018320002000")
        bench.run(.milliseconds(14))
        let response = "043e0d28" + "03010001" + "7fceff" + "020002" + "0809"
        #expect(bench.told(bench.peripheral) == [response, "043e0427030002"])
        #expect(bench.answered(Self.respond(1, slot: 3, [1]), bench.central) == "040e06018320462000", "too late")
        bench.run(.milliseconds(200))
        #expect(bench.told(bench.central).allSatisfy { !$0.dropFirst(6).hasPrefix("25") }, "nothing new was given")
    }

    @Test("a response to a controller that was reset is lost") func respondedTooLate() {
        var bench = Self.bench()
        bench.run(.milliseconds(150))
        bench.prepare(bench.peripheral, Self.subevent(0, [5]))
        bench.run(.milliseconds(60))
        bench.expect("043e1424" + Periodic.established + "02140808")
        bench.prepare(bench.peripheral, Reset())
        #expect(bench.answered(Self.respond(1, slot: 2, [8, 9]), bench.central) == "040e06018320002000")
        bench.run(.seconds(2))
        #expect(bench.told(bench.central) == ["043e03102000"], "it is lost")
    }

    static func connect(
        to peer: DeviceAddress = Bench.centralAddress, subevent: UInt8 = 1, set: AdvertisingHandle = Periodic.set
    ) -> LEExtendedCreateConnectionV2 {
        let phy = LEExtendedCreateConnection.PHYParameters(
            scanInterval: LESlots(rawValue: 0), scanWindow: LESlots(rawValue: 0),
            connectionParameters: Bench.connectionParameters())
        return LEExtendedCreateConnectionV2(
            advertisingHandle: set, subevent: subevent,
            connection: LEExtendedCreateConnection(peerAddress: peer, le1M: phy))
    }

    /// A central that listens to subevent 1, and of which the advertiser knows.
    static func listening() -> Bench {
        var bench = bench()
        bench.run(.milliseconds(150))
        bench.prepare(bench.peripheral, subevent(0, [5]))
        bench.run(.milliseconds(60))
        bench.prepare(bench.central, LESetPeriodicSyncSubevent(syncHandle: SyncHandle(0x20), subevents: [1]))
        _ = (bench.told(bench.central), bench.told(bench.peripheral))
        return bench
    }

    @Test(
        "a device is asked to connect in the subevent it listens to, instead of the subevent's data") func connects()
    {
        var bench = Self.listening()
        #expect(bench.answered(Self.connect(), bench.peripheral) == "040f0400018520")
        bench.prepare(bench.peripheral, Self.subevent(1, [6, 7]))
        bench.run(.milliseconds(20))
        #expect(bench.told(bench.peripheral).filter { $0.hasPrefix("043e1f0a") || $0.hasPrefix("043e1301") }.count == 1)
        let told = bench.told(bench.central)
        #expect(told.filter { $0.hasPrefix("043e1f0a") || $0.hasPrefix("043e1301") }.count == 1)
        #expect(!told.contains { $0.contains("0607") })
    }

    @Test(
        "if the device does not listen to the subevent, or is another one, the connection attempt fails",
        arguments: [0, 1] as [UInt8])
    func connectsToNobody(_ subevent: UInt8) {
        var bench = Self.listening()
        let command = subevent == 1 ? Self.connect(to: DeviceAddress(7, kind: .public)) : Self.connect(subevent: 0)
        #expect(bench.answered(command, bench.peripheral) == "040f0400018520")
        bench.run(.milliseconds(120))
        let ends = bench.told(bench.peripheral).filter { $0.hasPrefix("043e1f0a3e") || $0.hasPrefix("043e13013e") }
        #expect(ends.count == 1)
        #expect(!bench.air[bench.peripheral].isInitiating)
    }

    @Test("Vol 4, Part E, 7.8.66: an unknown subevent or set is rejected") func connectionRefused() {
        var bench = Self.listening()
        #expect(bench.answered(Self.connect(subevent: 2), bench.peripheral) == "040f0412018520")
        #expect(bench.answered(Self.connect(set: AdvertisingHandle(9)), bench.peripheral) == "040f0442018520")
        bench.prepare(bench.peripheral, Periodic.off)
        #expect(bench.answered(Self.connect(), bench.peripheral) == "040f040c018520")
    }

    @Test(
        "Vol 4, Part E, 7.8.61: subevents and slots that do not fit are rejected",
        arguments: [(129, 20, 8, 8, 4), (2, 5, 2, 8, 4), (5, 20, 8, 8, 4), (2, 20, 0, 8, 4), (2, 20, 8, 8, 16)])
    func refused(_ count: UInt8, _ each: UInt8, _ delay: UInt8, _ spacing: UInt8, _ slots: UInt8) {
        var bench = Periodic.bench(responses: true)
        bench.prepare(bench.peripheral, ExtendedAdvertisingTests.parameters())
        let parameters = LESetPeriodicAdvertisingParametersV2(
            advertisingHandle: Periodic.set, intervalMin: Periodic.interval, intervalMax: Periodic.interval,
            subeventCount: count, subeventInterval: each, responseSlotDelay: delay, responseSlotSpacing: spacing,
            responseSlotCount: slots)
        #expect(bench.answered(parameters, bench.peripheral) == "040e050186201203")
    }

    /// Two that are connected, of which the peripheral advertises periodically.
    static func connected(_ mode: PeriodicSyncTransferMode) -> Bench {
        var bench = Periodic.bench()
        for id in [bench.central, bench.peripheral] {
            bench.prepare(
                id,
                LESetDefaultPeriodicAdvertisingSyncTransferParameters(
                    mode: mode, timeout: SupervisionTimeout(rawValue: 50)))
        }
        var parameters = ExtendedAdvertisingTests.parameters(.connectable)
        parameters.advertisingHandle = AdvertisingHandle(1)
        bench.prepare(
            bench.peripheral, parameters,
            LESetExtendedAdvertisingEnable(isEnabled: true, sets: [.init(advertisingHandle: AdvertisingHandle(1))]))
        let phy = LEExtendedCreateConnection.PHYParameters(
            scanInterval: LESlots(rawValue: 16), scanWindow: LESlots(rawValue: 16),
            connectionParameters: Bench.connectionParameters())
        bench.prepare(bench.central, LEExtendedCreateConnection(peerAddress: Bench.peripheralAddress, le1M: phy))
        bench.run(.milliseconds(300))
        _ = bench.told(bench.central)
        _ = bench.told(bench.peripheral)
        bench.prepare(bench.peripheral, ExtendedAdvertisingTests.parameters())
        bench.prepare(bench.peripheral, Periodic.parameters, Periodic.data([4]), Periodic.on)
        return bench
    }

    static let setInfo = LEPeriodicAdvertisingSetInfoTransfer(
        connectionHandle: ConnectionHandle(0x40), serviceData: 0x1234, advertisingHandle: Periodic.set)

    @Test("a peer receives the set's sync information, and follows the set without scanning") func setInfo() {
        var bench = Self.connected(.synchronize)
        #expect(bench.answered(Self.setInfo, bench.peripheral) == "040e06015b200c4000", "not on the air yet")
        bench.prepare(bench.peripheral, ExtendedAdvertisingTests.enable())
        #expect(bench.answered(Self.setInfo, bench.peripheral) == "040e06015b20004000")
        bench.run(.milliseconds(200))
        let transferred = "043e1418" + "0040003412" + "20000000" + "a00000000000" + "01500000"
        let first = "043e090f" + Periodic.report + "000104"
        #expect(bench.told(bench.central).prefix(2) == [transferred, first])
        let back = LEPeriodicAdvertisingSyncTransfer(
            connectionHandle: ConnectionHandle(0x40), serviceData: 7, syncHandle: SyncHandle(0x20))
        #expect(bench.answered(back, bench.central) == "040e06015a20004000")
        bench.run(.milliseconds(500))
        #expect(bench.told(bench.peripheral).isEmpty, "its own")
    }

    @Test("a transferred sync fails if the advertiser was reset in the meantime") func resetMeanwhile() {
        var bench = Self.connected(.synchronize)
        var configuration = ControllerConfiguration(publicAddress: DeviceAddress(0xB0, kind: .public))
        configuration.hasExtendedAdvertising = true
        configuration.hasPeriodicAdvertising = true
        let advertiser = bench.air.addController(configuration)
        bench.prepare(advertiser, ExtendedAdvertisingTests.parameters())
        bench.prepare(
            advertiser, Periodic.parameters, Periodic.data([4]), Periodic.on, ExtendedAdvertisingTests.enable())
        bench.prepare(
            bench.peripheral, ExtendedAdvertisingTests.scan(.passive), LESetExtendedScanEnable(isEnabled: true),
            Periodic.sync(address: configuration.publicAddress))
        bench.run(.milliseconds(300))
        _ = bench.told(bench.peripheral)
        let transfer = LEPeriodicAdvertisingSyncTransfer(
            connectionHandle: ConnectionHandle(0x40), serviceData: 7, syncHandle: SyncHandle(0x20))
        #expect(bench.answered(transfer, bench.peripheral) == "040e06015a20004000")
        bench.prepare(advertiser, Reset())
        bench.run(.seconds(2))
        #expect(bench.told(bench.central).map { $0.prefix(10) } == ["043e14183e"], "it failed to be established")
    }

    @Test("a transferred sync is ignored unless the host wants it") func ignored() {
        var bench = Self.connected(.ignore)
        bench.prepare(bench.peripheral, ExtendedAdvertisingTests.enable())
        bench.prepare(bench.peripheral, Self.setInfo)
        bench.run(.milliseconds(500))
        #expect(bench.told(bench.central).isEmpty)
        let wanted = LESetPeriodicAdvertisingSyncTransferParameters(
            connectionHandle: ConnectionHandle(0x40), mode: .withoutReports, timeout: SupervisionTimeout(rawValue: 50))
        #expect(bench.answered(wanted, bench.central) == "040e06015c20004000")
        bench.prepare(bench.peripheral, Self.setInfo)
        bench.run(.milliseconds(500))
        #expect(bench.told(bench.central).map { String($0.dropFirst(6).prefix(2)) } == ["18"])
    }
}
