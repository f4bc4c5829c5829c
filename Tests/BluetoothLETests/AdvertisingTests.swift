import AdapterTestSupport
import BluetoothGAP
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("Advertising", .timeLimit(.minutes(30)))
struct AdvertisingTests {
    let radio = VirtualRadio(time: .manual)

    @Test("A second call replaces the advertisement, and stopAdvertising ends it")
    func replaced() async throws {
        let ports = [radio.addController(), radio.addController()]
        let peripheral = try await Adapter.open(ports[0])
        let central = try await Adapter.open(ports[1])
        func isAdvertising() -> Bool { radio.withAir { air, _ in air[ports[0].identifier].isAdvertising } }
        for name in ["One", "Two"] {
            try await radio.passing { try await peripheral.advertise(AdvertisementData(name: name)) }
            #expect(isAdvertising())
            let sightings = central.scan(for: ScanFilter(name: .exact(name)))
            #expect(try await radio.passing { try await sightings.first() }?.name == name)
        }
        peripheral.stopAdvertising()
        await until { !isAdvertising() }
        peripheral.stopAdvertising()
    }

    @Test("Advertising data that does not fit is rejected with the reason")
    func tooLong() async throws {
        let peripheral = try await Adapter.open(radio.addController())
        var data = AdvertisementData()
        data.manufacturerData = [.init(companyID: 0xFFFF, data: [UInt8](repeating: 0, count: 60))]
        let error = await #expect(throws: BluetoothError.self) { try await peripheral.advertise(data) }
        #expect(error?.code == .advertisingDataTooLong && error?.underlyingError is AdvertisingPayloadError)
    }

    @Test(
        "An interval outside the specification's range is rejected",
        arguments: [Duration.milliseconds(19)...Duration.milliseconds(30), .seconds(1)...Duration.seconds(11)])
    func interval(_ interval: ClosedRange<Duration>) async throws {
        let peripheral = try await Adapter.open(radio.addController())
        await #expect(throws: BluetoothError.invalidParameters) {
            try await peripheral.advertise(AdvertisementData(), interval: interval)
        }
    }

    /// How a call that is pending may be called off.
    enum End: CaseIterable { case cancellation, stopping, replacing, closing, deadline }

    @Test("Calling off a pending call, in any way, ends that call and no other", arguments: End.allCases)
    func calledOff(_ end: End) async throws {
        let port = radio.addController { $0.responseDelay = .milliseconds(1) }
        let peripheral = try await radio.passing { [radio] in
            _ = radio
            return try await Adapter.open(port)
        }
        let task = Task {
            if end == .deadline {
                try await withTimeout(.milliseconds(1)) { () throws(BluetoothError) in
                    try await peripheral.advertise(AdvertisementData(name: "A"))
                }
            } else {
                try await peripheral.advertise(AdvertisementData(name: "A"))
            }
        }
        if end != .deadline { await until { await peripheral.pendingCount == 1 } }
        var replacement: Task<Void, any Error>?
        switch end {
        case .cancellation: task.cancel()
        case .stopping: peripheral.stopAdvertising()
        case .closing: await peripheral.close()
        case .deadline: break
        case .replacing: replacement = Task { try await peripheral.advertise(AdvertisementData(name: "B")) }
        }
        let expected: BluetoothError = end == .closing ? .adapterClosed : end == .deadline ? .timedOut : .cancelled
        await #expect(throws: expected) { try await task.value }
        if let replacement {
            // Too late: the other call's advertisement is not to be touched by this.
            task.cancel()
            try await radio.passing { try await replacement.value }
            #expect(radio.withAir { air, _ in air[port.identifier].isAdvertising })
        } else {
            await radio.advance(by: .seconds(1))
            #expect(!radio.withAir { air, _ in air[port.identifier].isAdvertising })
        }
    }

    @Test("A sighting reports whether its device is connectable", arguments: [false, true])
    func connectable(_ isConnectable: Bool) async throws {
        let ports = [radio.addController(), radio.addController()]
        let peripheral = try await Adapter.open(ports[0])
        let central = try await Adapter.open(ports[1])
        try await radio.passing {
            try await peripheral.advertise(AdvertisementData(name: "Seen"), isConnectable: isConnectable)
        }
        let sightings = central.scan()
        let sighting = try #require(try await radio.passing { try await sightings.first() })
        #expect(sighting.isConnectable == isConnectable)
    }
}
