import BluetoothBase
import BluetoothValues
import Testing
@testable import GatewayPipeline

/// What the presets make of packets, to the letter.
@Suite struct PresetTests {
    func lines(_ name: PresetName, _ receptions: Reception...) -> [String] {
        var settings = PipelineSettings()
        settings.comparison = name.comparison
        settings.tellsUndecoded = name.tellsUndecoded
        var pipeline = Pipeline(settings)
        let topics = Topics(base: name == .theengs ? "home" : "ble", gateway: "attic")
        var preset = name.preset(topics, expiry: .seconds(300), capacity: 10)
        return receptions.flatMap { pipeline.receive($0, at: epoch) }.flatMap { preset.publications(for: $0) }.map(
            \.line)
    }

    /// The complete local name "Cellar".
    let name: [UInt8] = [0x07, 0x09] + Array("Cellar".utf8)

    @Test func homeAssistantFindsAndReadsASensor() {
        let device =
            #""device":{"identifiers":["ble_A4C138112233"],"connections":[["bluetooth","A4:C1:38:11:22:33"]],"#
            + #""name":"Cellar 2233","model":"bthome"},"origin":{"name":"ble-gateway"}"#
        #expect(
            lines(.homeassistant, Reception(bthome("02CA09") + name, at: 1), Reception(bthome("02CB09") + name, at: 2))
                == [
                    #"homeassistant/sensor/ble_A4C138112233/temperature/config (retained) {"name":"Temperature","#
                        + #""unique_id":"ble_A4C138112233_temperature","state_topic":"ble/devices/A4C138112233/state","#
                        + #""value_template":"{{ value_json.temperature }}","device_class":"temperature","#
                        + #""unit_of_measurement":"°C","state_class":"measurement","expire_after":300,"# + device + "}",
                    #"homeassistant/sensor/ble_A4C138112233/rssi_attic/config (retained) {"name":"Signal at attic","#
                        + #""unique_id":"ble_A4C138112233_rssi_attic","#
                        + #""state_topic":"ble/gateways/attic/signal/A4C138112233","#
                        + #""availability_topic":"ble/gateways/attic/availability","device_class":"signal_strength","#
                        + #""unit_of_measurement":"dBm","state_class":"measurement","expire_after":300,"#
                        + #""entity_category":"diagnostic","# + device + "}",
                    #"ble/devices/A4C138112233/state (retained) {"temperature":25.06}"#,
                    "ble/gateways/attic/signal/A4C138112233 -60",
                    #"ble/devices/A4C138112233/state (retained) {"temperature":25.07}"#,
                    "ble/gateways/attic/signal/A4C138112233 -60",
                ])
    }

    @Test func homeAssistantIsToldOfEvents() {
        let lines = lines(.homeassistant, Reception(bthome("00013A01"), at: 1))
        #expect(lines[0].hasPrefix("homeassistant/event/ble_A4C138112233/button/config (retained) "))
        #expect(lines[0].contains(#""state_topic":"ble/devices/A4C138112233/button","event_types":["press","#))
        #expect(lines.contains(#"ble/devices/A4C138112233/button {"event_type":"press"}"#))
    }

    @Test func homeAssistantIsToldOfCommandsAndTheirArguments() {
        let lines = lines(.homeassistant, Reception(bthome("00013B0103AB"), at: 1))
        #expect(lines[0].hasPrefix("homeassistant/event/ble_A4C138112233/command/config (retained) "))
        #expect(lines[0].contains(#""event_types":["off","on","toggle","step_up","step_down"]"#))
        #expect(lines.contains(#"ble/devices/A4C138112233/command {"event_type":"step_up","args":"AB"}"#))
    }

    @Test func whatIsSilentByDesignDoesNotExpire() {
        #expect(lines(.homeassistant, Reception(bthome("2D01"), at: 1))[0].contains("expire_after"))
        #expect(!lines(.homeassistant, Reception(serviceData("442D01"), at: 1))[0].contains("expire_after"))
    }

    @Test("A flag that the state does not contain is unknown, not off")
    func missingFlag() {
        let announcement = lines(.homeassistant, Reception(bthome("2D01"), at: 1))[0]
        #expect(
            announcement.contains(
                #""value_template":"{% if value_json.window is defined %}"#
                    + #"{{ 'ON' if value_json.window else 'OFF' }}{% endif %}""#))
    }

    @Test("A device that was announced without its name is announced again once, with the name")
    func nameFromScanResponse() {
        let lines = lines(
            .homeassistant, Reception(bthome("02CA09"), at: 1), Reception(bthome("02CB09"), response: name, at: 2),
            Reception(bthome("02CC09"), response: name, at: 3))
        let announcements = lines.filter { $0.hasPrefix("homeassistant/") }
        let names = announcements.map { $0.contains(#""name":"Cellar 2233""#) ? "Cellar" : "none" }
        #expect(names == ["none", "none", "Cellar", "Cellar"])
        #expect(Set(announcements.map { $0.prefix { $0 != " " } }).count == 2)
    }

    @Test(
        "A beacon has only a signal strength in Home Assistant",
        arguments: [
            Beacon.iBeacon, Beacon.eddystoneUID, Beacon.eddystoneURL, Beacon.exposureNotification,
        ])
    func beacons(packet: [UInt8]) {
        let topics = lines(.homeassistant, Reception(packet, at: 1)).map { $0.prefix { $0 != " " } }
        #expect(
            topics == [
                "homeassistant/sensor/ble_A4C138112233/rssi_attic/config", "ble/gateways/attic/signal/A4C138112233",
            ])
    }

    @Test("The values of a sensor that is also a beacon are published with either packet")
    func sensorAndBeacon() {
        let lines = lines(.homeassistant, Reception(bthome("02CA09"), at: 1), Reception(Beacon.iBeacon, at: 2))
        let state = #"ble/devices/A4C138112233/state (retained) {"temperature":25.06}"#
        #expect(lines.filter { $0.hasPrefix("ble/devices/") } == [state, state])
        #expect(lines.count { $0.hasPrefix("homeassistant/") } == 2)
    }

    @Test func homeAssistantHearsNothingOfPrivateAddresses() throws {
        let address = try #require(DeviceAddress("4A:00:00:00:00:01/R"))
        #expect(lines(.homeassistant, Reception(bthome("02CA09"), from: address, at: 1)) == [])
    }

    @Test(arguments: [
        (AdvertisedField("battery", .number(FixedPointNumber(97)), unit: "%"), "sensor", "battery", "measurement"),
        (AdvertisedField("battery", .number(FixedPointNumber(2977)), unit: "mV"), "sensor", "voltage", "measurement"),
        (
            AdvertisedField("temperature_2", .number(FixedPointNumber(1)), unit: "°C"), "sensor", "temperature",
            "measurement"
        ),
        (AdvertisedField("energy", .number(FixedPointNumber(1)), unit: "kWh"), "sensor", "energy", "total_increasing"),
        (AdvertisedField("pm2_5", .number(FixedPointNumber(1)), unit: "µg/m³"), "sensor", "pm25", "measurement"),
        (AdvertisedField("count", .number(FixedPointNumber(1))), "sensor", "-", "measurement"),
        (AdvertisedField("text", .text("x")), "sensor", "-", "-"),
        (AdvertisedField("window", .flag(true)), "binary_sensor", "window", "-"),
        (AdvertisedField("generic_boolean", .flag(true)), "binary_sensor", "-", "-"),
    ])
    func entities(field: AdvertisedField, component: String, deviceClass: String, stateClass: String) {
        let entity = HomeAssistantEntity(field, isEvent: false)
        #expect(entity.component.rawValue == component)
        #expect(entity.deviceClass ?? "-" == deviceClass)
        #expect(entity.stateClass ?? "-" == stateClass)
    }

    @Test(arguments: [
        ("temperature", "Temperature"), ("temperature_2", "Temperature 2"), ("pm2_5", "PM2.5"), ("pm10", "PM10"),
        ("co2", "CO2"), ("dew_point", "Dew point"), ("uv_index", "UV index"), ("co2_3", "CO2 3"),
        ("acceleration_x", "Acceleration x"),
    ])
    func entityNames(field: String, name: String) {
        let field = AdvertisedField(field, .number(FixedPointNumber(1)))
        #expect(HomeAssistantEntity(field, isEvent: false).name == name)
    }

    @Test func theengsHasItsNamesOfABeacon() {
        let data = [UInt8](hexadecimal: "1AFF4C000215" + "E2C56DB5DFFB48D2B060D0F5A71096E0" + "00010002C5")!
        #expect(
            lines(.theengs, Reception(data, at: 1)) == [
                #"home/attic/BTtoMQTT/A4C138112233 {"id":"A4:C1:38:11:22:33","mac_type":0,"rssi":-60,"#
                    + #""brand":"GENERIC","model":"iBeacon","model_id":"IBEACON","#
                    + #""uuid":"e2c56db5dffb48d2b060d0f5a71096e0","major":1,"minor":2,"txpower":-59}"#
            ])
    }

    @Test func theengsHasItsNames() {
        let data = [UInt8](hexadecimal: "1BFF990405" + "12FC5394C37C0004FFFC040CAC364200CDCBB8334C884F")!
        #expect(
            lines(.theengs, Reception(data, at: 1)) == [
                #"home/attic/BTtoMQTT/A4C138112233 {"id":"A4:C1:38:11:22:33","mac_type":0,"rssi":-60,"#
                    + #""brand":"Ruuvi","model":"RuuviTag","model_id":"RuuviTag_RAWv2","#
                    + #""tempc":24.300,"tempf":75.740,"hum":53.4900,"pres":1000.44,"accx":0.039,"accy":-0.039,"accz":10.160,"#
                    + #""volt":2.977,"tx":4,"mov":66}"#
            ])
    }

    @Test func theengsHasTheOctetsOfUnknownDevices() {
        let data = [UInt8](hexadecimal: "05FF4C00AABB" + "05160A18CCDD")!
        #expect(
            lines(.theengs, Reception(data + name, at: 1)) == [
                #"home/attic/BTtoMQTT/A4C138112233 {"id":"A4:C1:38:11:22:33","mac_type":0,"name":"Cellar","rssi":-60,"#
                    + #""manufacturerdata":"4c00aabb","servicedatauuid":"0x180a","servicedata":"ccdd"}"#
            ])
    }

    @Test func rawHasEverything() {
        let response = [UInt8](hexadecimal: "0409414243")!
        #expect(
            lines(.raw, Reception([2, 1, 6], response: response, at: 1)) == [
                #"ble/gateways/attic/raw/A4C138112233 {"address":"A4:C1:38:11:22:33","type":"public","rssi":-60,"#
                    + #""connectable":false,"data":"020106","scan_response":"0409414243","gateway":"attic","#
                    + #""adapter":"hci0","time":1700000000000}"#
            ])
    }

    @Test func namesFromTheAirAreEscaped() {
        // A name that would clear a terminal and end the string.
        let hostile = [UInt8](hexadecimal: "08091B5B324A22E280AE".prefix(18).description)!
        let line = lines(.theengs, Reception(hostile, at: 1)).first ?? ""
        #expect(line.contains(#""name":"\u001b[2J\""#))
        #expect(!line.unicodeScalars.contains("\u{1B}"))
    }

    @Test(arguments: ["a/b", "+", "#", "", "a\u{7}", "$SYS", String(repeating: "x", count: 65)])
    func notALevel(text: String) {
        #expect(!Topics.isLevel(text))
    }
}
