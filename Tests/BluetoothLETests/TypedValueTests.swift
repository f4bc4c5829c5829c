import BluetoothValues
import Testing
import VirtualRadio

@testable import BluetoothLE

/// A central that knows the layouts, and a peripheral with a heart rate sensor, a clock and a battery.
@Suite("Typed values", .timeLimit(.minutes(30)))
struct TypedValueTests {
    struct Sensor {
        let radio = VirtualRadio()
        let central, peripheral: Adapter
        let heartRate, information: PublishedService
        let connection: Connection

        static let time = CurrentTime(dateTime: DateTime(year: 2024, month: 2, day: 29), dayOfWeek: .thursday)
        static let name = ManufacturerNameString("Analytical Engines of Marylebone, Dorset Street")

        init() async throws {
            central = try await Adapter.open(radio.addController())
            peripheral = try await Adapter.open(radio.addController())
            heartRate = try await peripheral.publish(
                GATTServiceDefinition(
                    uuid: "180D",
                    characteristics: [
                        .init(uuid: HeartRateMeasurement.uuid, properties: .notify),
                        .init(uuid: TemperatureMeasurement.uuid, properties: .indicate),
                    ]))
            information = try await peripheral.publish(
                GATTServiceDefinition(
                    uuid: "180A",
                    characteristics: [
                        .init(
                            uuid: ManufacturerNameString.uuid, properties: .read,
                            value: .variableLength(Self.name.encoded)),
                        .init(
                            uuid: CurrentTime.uuid, properties: [.read, .write],
                            value: .variableLength(Self.time.encoded)),
                        .init(uuid: BatteryLevel.uuid, properties: .read, value: .variableLength([80])),
                    ]))
            try await peripheral.advertise(AdvertisementData(name: "Sensor"))
            let address = try #require(peripheral.information?.address)
            connection = try await central.connect(to: address)
        }

        /// The only one who is subscribed to a characteristic.
        func subscriber(_ uuid: BluetoothUUID) async throws -> Subscriber {
            try #require(heartRate[uuid]?.subscribers.first)
        }
    }

    @Test("A value is found by its type, read, written and read again")
    func readAndWrite() async throws {
        let sensor = try await Sensor()
        let connection = sensor.connection
        #expect(try await connection.read(ManufacturerNameString.self) == Sensor.name)
        #expect(try await connection.read(CurrentTime.self, in: "180A") == Sensor.time)

        var time = Sensor.time
        time.adjustReason = .manualTimeUpdate
        try await connection.write(time)
        let characteristic = try await connection.characteristic(CurrentTime.self)
        #expect(try await connection.read(CurrentTime.self, from: characteristic) == time)
        time.dateTime.hours = 1
        try await connection.write(time, to: characteristic)
        #expect(try await connection.read(CurrentTime.self) == time)
        time.dateTime.hours = 2
        try await connection.write(time, in: "180A")
        #expect(await sensor.information[CurrentTime.uuid]?.value == time.encoded)

        try await sensor.information[BatteryLevel.uuid]?.setValue(BatteryLevel(percentage: 79))
        #expect(try await connection.read(BatteryLevel.self) == BatteryLevel(percentage: 79))
    }

    @Test("A missing service or characteristic is reported with its UUID")
    func notFound() async throws {
        let sensor = try await Sensor()
        await #expect(throws: BluetoothError.notFound("2A9D")) {
            try await sensor.connection.notifications(WeightMeasurement.self)
        }
        await #expect(throws: BluetoothError.notFound("2A37")) {
            try await sensor.connection.characteristic(HeartRateMeasurement.self, in: "180A")
        }
        await #expect(throws: BluetoothError.notFound("180F")) {
            try await sensor.connection.read(BatteryLevel.self, in: "180F")
        }
    }

    @Test("A malformed value is reported with the cause")
    func malformed() async throws {
        let sensor = try await Sensor()
        try await sensor.information[CurrentTime.uuid]?.setValue([0xE8, 0x07, 2])
        let failure = DecodingFailure(.truncated(missing: 7), at: 3)
        await #expect(throws: BluetoothError.malformedValue("2A2B", failure)) {
            try await sensor.connection.read(CurrentTime.self)
        }
        #expect(
            "\(BluetoothError.malformedValue("2A2B", failure))"
                == "the peer's value of 2A2B is malformed: truncated at byte 3: 7 more needed; "
                + "read it as bytes to inspect it")
    }

    @Test("Measurements arrive in order, and a malformed one does not end the subscription")
    func notifications() async throws {
        let sensor = try await Sensor()
        let beats = try await sensor.connection.notifications(HeartRateMeasurement.self)
        let subscriber = try await sensor.subscriber(HeartRateMeasurement.uuid)
        let sent = (60..<65).map { HeartRateMeasurement(heartRate: $0, rrIntervals: [.milliseconds(500)]) }
        for beat in sent { try await subscriber.notify(beat) }
        var iterator = beats.makeAsyncIterator()
        for beat in sent { #expect(try await iterator.next() == beat) }

        try await subscriber.notify([0x01, 0x48])
        try await subscriber.notify(sent[0])
        await #expect(throws: BluetoothError.malformedValue("2A37", DecodingFailure(.truncated(missing: 1), at: 2))) {
            for try await _ in beats {}
        }
        #expect(try await iterator.next() == sent[0])

        let characteristic = try await sensor.connection.characteristic(HeartRateMeasurement.self)
        try await sensor.connection.unsubscribe(from: characteristic)
        #expect(try await iterator.next() == nil)
    }

    @Test("A loop over measurements throws the reason the link ended")
    func disconnection() async throws {
        let sensor = try await Sensor()
        let beats = try await sensor.connection.notifications(HeartRateMeasurement.self, in: "180D")
        try await sensor.subscriber(HeartRateMeasurement.uuid).notify(HeartRateMeasurement(heartRate: 60))
        var heard: [UInt16] = []
        await #expect(throws: BluetoothError.disconnected(.byThisDevice)) {
            for try await beat in beats {
                heard.append(beat.heartRate)
                try await sensor.connection.disconnect()
            }
        }
        #expect(heard == [60])
    }

    @Test("Indicated values are decoded")
    func indications() async throws {
        let sensor = try await Sensor()
        let characteristic = try await sensor.connection.characteristic(TemperatureMeasurement.self)
        let values = try await sensor.connection.notifications(of: characteristic, as: TemperatureMeasurement.self)
        let sent = TemperatureMeasurement(temperature: MedFloat32(36.4), type: .ear)
        try await sensor.subscriber(TemperatureMeasurement.uuid).indicate(sent)
        var iterator = values.makeAsyncIterator()
        #expect(try await iterator.next() == sent)
    }
}
