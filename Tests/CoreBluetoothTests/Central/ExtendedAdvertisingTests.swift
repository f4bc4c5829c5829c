import BluetoothLE
import CoreBluetooth
import Testing
import VirtualRadio

@Suite("Extended advertising", .timeLimit(.minutes(30)))
struct ExtendedAdvertisingTests {
    @Test(
        "extendedScanAndConnect is supported if the radio is capable, and scans then find extended advertisers",
        arguments: [true, false])
    func supported(_ isExtended: Bool) async throws {
        let stage = Stage()
        let events = CentralRecorder(Recorder())
        let port = stage.radio.addController { $0.hasExtendedAdvertising = isExtended }
        let manager = stage.with(port) { CBCentralManager(delegate: events, queue: events.recorder.queue) }
        #expect(stage.with(port) { CBCentralManager.supports([]) })
        await events.recorder.expect("state poweredOn")
        #expect(stage.with(port) { CBCentralManager.supports(.extendedScanAndConnect) } == isExtended)

        let peripheral = try await Adapter.open(stage.radio.addController { $0.hasExtendedAdvertising = true })
        let data: [UInt8] = [2, 9, 0x41] + [UInt8](repeating: 0, count: 100)
        var parameters = AdvertisingParameters(data: data, extended: ExtendedAdvertising(secondaryPHY: .le2M))
        _ = try await peripheral.addAdvertisingSet(parameters)
        parameters.isConnectable = false
        parameters.data = [2, 9, 0x42]
        parameters.extended?.isAnonymous = true
        _ = try await peripheral.addAdvertisingSet(parameters)
        // What every radio hears.
        var advertisement = AdvertisementData()
        advertisement.localName = .complete("C")
        try await peripheral.advertise(advertisement)
        manager.scanForPeripherals(withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        var names: Set<String> = []
        while !names.isSuperset(of: isExtended ? ["A", "C"] : ["C"]) {
            names.insert(String(await events.recorder.skip(to: "discovered").dropFirst("discovered ".count)))
        }
        // Row 17: the PHYs are those of the packets.
        let advertisements = await events.recorder.onQueue { events.advertisements }
        let phys = Set(
            advertisements.map { data in
                "\(data[CBAdvertisementDataLocalNameKey] as? String ?? "nil") "
                    + "\(data["kCBAdvDataRxPrimaryPHY"] as? Int ?? -1) \(data["kCBAdvDataRxSecondaryPHY"] as? Int ?? -1)"
            })
        #expect(phys == (isExtended ? ["A 1 2", "C 1 0"] : ["C 1 0"]))
        #expect(names == (isExtended ? ["A", "C"] : ["C"]), "an anonymous advertiser is no peripheral")
        manager.stopScan()
    }
}
