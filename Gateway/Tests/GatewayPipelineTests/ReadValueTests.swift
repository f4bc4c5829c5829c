import BluetoothBase
import BluetoothValues
import GatewayPipeline
import Testing

/// Values that were read over a connection, beside those that are advertised.
@Suite struct ReadValueTests {
    static let values: [(BluetoothUUID, [UInt8], AdvertisedField?)] = [
        ("2A19", [97], AdvertisedField("battery", .number(FixedPointNumber(97)), unit: "%")),
        ("2A19", [101], nil), ("2A19", [], nil), ("2A19", [1, 2], nil),
        ("2A6E", [0xCA, 0x09], AdvertisedField("temperature", .number(FixedPointNumber(2506, places: 2)), unit: "°C")),
        ("2A6E", [0x00, 0x80], nil),
        ("2A26", Array("1.2".utf8), AdvertisedField("firmware_version", .text("1.2"))),
        ("2A37", [0, 60], nil),
    ]

    @Test(arguments: values) func fields(uuid: BluetoothUUID, octets: [UInt8], field: AdvertisedField?) {
        #expect(ReadableValues.field(uuid, octets) == field)
    }

    let battery = AdvertisedField("battery", .number(FixedPointNumber(97)), unit: "%")

    @Test func besideAdvertised() {
        var settings = PipelineSettings()
        settings.deviceBurst = 10
        var pipeline = Pipeline(settings)
        #expect(pipeline.texts(Reception(bthome("023C0A"), at: 0)) == ["state -60@hci0 temperature=26.20"])
        #expect(
            pipeline.receive([battery], of: sensor, at: .at(1), epoch).map(\.text)
                == ["state -@ temperature=26.20 battery=97"])
        // It says nothing new.
        #expect(pipeline.receive([battery], of: sensor, at: .at(2), epoch).isEmpty)
        // It stays with what is advertised later.
        #expect(
            pipeline.texts(Reception(bthome("023D0A"), at: 3)) == ["state -60@hci0 temperature=26.21 battery=97"])
    }

    @Test func deviceWithoutAFormat() {
        var pipeline = Pipeline(PipelineSettings())
        let name: [UInt8] = [5, 9, 0x4C, 0x61, 0x6D, 0x70]
        #expect(pipeline.texts(Reception(name, at: 0)).isEmpty)
        let reports = pipeline.receive([battery], of: sensor, at: .at(1), epoch)
        #expect(reports.map(\.text) == ["state -60@hci0 battery=97"])
        #expect(reports.first?.format == "gatt")
        #expect(reports.first?.name == "Lamp")
        // Told again as other states are, so that it does not expire.
        #expect(pipeline.texts(Reception(name, at: 62)) == ["state -60@hci0 battery=97"])
    }

    @Test func deviceThatWasNotHeard() {
        var pipeline = Pipeline(PipelineSettings())
        #expect(pipeline.receive([battery], of: sensor, at: .at(1), epoch).isEmpty)
        #expect(!pipeline.knows(sensor))
        _ = pipeline.texts(Reception(bthome("023C0A"), at: 2))
        #expect(pipeline.knows(sensor))
        _ = pipeline.texts(at: 400)
        #expect(!pipeline.knows(sensor))
    }
}
