import BluetoothLE
import Testing
import VirtualRadio

/// The examples of the README, as they stand there but for where the adapter comes from and when they end.
@Suite("The README's examples")
struct ReadmeTests {
    @Test("A central and a peripheral", arguments: [false, true])
    func centralAndPeripheral(isTyped: Bool) async throws {
        let radio = VirtualRadio()
        let phone = try await Adapter.open(radio.addController())
        let sensor = try await Adapter.open(radio.addController())
        let publishing = Task { try await peripheral(sensor) }
        let beats = isTyped ? try await typedCentral(phone) : UInt16(try await central(phone))
        #expect((60...80).contains(beats))
        publishing.cancel()
        await phone.close()
        await sensor.close()
    }

    private func central(_ adapter: Adapter) async throws -> UInt8 {
        let heartRate: BluetoothUUID = "180D"
        let measurement: BluetoothUUID = "2A37"

        for try await sighting in try await adapter.scan(for: ScanFilter(services: [heartRate], rssi: -70...0)) {
            let connection = try await adapter.connect(to: sighting.address, timeout: .seconds(10))
            let characteristic = try await connection.characteristic(measurement, in: heartRate)
            for try await value in try await connection.notifications(of: characteristic) {
                return value[1]
            }
        }
        return 0
    }

    private func typedCentral(_ adapter: Adapter) async throws -> UInt16 {
        for try await sighting in try await adapter.scan(for: ScanFilter(services: ["180D"])) {
            let connection = try await adapter.connect(to: sighting.address, timeout: .seconds(10))
            for try await beat in try await connection.notifications(HeartRateMeasurement.self) {
                #expect(beat.rrIntervals.isEmpty)
                return beat.heartRate
            }
        }
        return 0
    }

    private func peripheral(_ adapter: Adapter) async throws {
        let service = try await adapter.publish(
            GATTServiceDefinition(
                uuid: "180D", characteristics: [GATTCharacteristicDefinition(uuid: "2A37", properties: .notify)]))

        var advertisement = AdvertisementData()
        advertisement.localName = .complete("Heart")
        advertisement.serviceUUIDs = [service.uuid]
        try await adapter.advertise(advertisement)

        for try await case .subscribed(let subscriber) in service.characteristics[0].events {
            Task {
                try await subscriber.notify([0, .random(in: 60...80)])
            }
        }
    }
}
