import BluetoothBase
import BluetoothValues
import Foundation
import GatewayPipeline
import Testing

/// Every discovery message is one that Home Assistant takes: the members, classes, units and state classes that its
/// documentation of MQTT's sensor, binary sensor and event, and its sensor component, list (2026.6).
@Suite struct HomeAssistantSchemaTests {
    static let common: Set<String> = [
        "name", "unique_id", "state_topic", "availability_topic", "device_class", "entity_category", "device", "origin",
    ]
    static let members: [String: Set<String>] = [
        "sensor": common.union(["value_template", "unit_of_measurement", "state_class", "expire_after"]),
        "binary_sensor": common.union(["value_template", "expire_after"]), "event": common.union(["event_types"]),
    ]

    static let anything: Set<String> = ["measurement", "total", "total_increasing"]
    static let measured: Set<String> = ["measurement"], summed: Set<String> = ["total", "total_increasing"]
    /// Of the classes of sensors that the gateway uses: the units, of which the first are its own, and the state
    /// classes.
    static let sensors: [String: (units: Set<String>, states: Set<String>)] = [
        "temperature": (["°C", "°F", "K"], measured), "humidity": (["%"], measured), "moisture": (["%"], measured),
        "pressure": (["hPa", "Pa", "kPa", "mbar", "bar"], measured), "illuminance": (["lx"], measured),
        "battery": (["%"], measured), "weight": (["kg", "g", "lb", "oz"], anything),
        "energy": (["kWh", "Wh", "MWh"], summed), "power": (["W", "kW"], measured),
        "voltage": (["V", "mV", "kV"], measured), "current": (["A", "mA"], measured), "pm25": (["µg/m³"], measured),
        "pm10": (["µg/m³"], measured), "carbon_dioxide": (["ppm"], measured),
        "volatile_organic_compounds": (["µg/m³"], measured), "distance": (["m", "mm", "cm", "km"], anything),
        "duration": (["s", "ms", "min", "h", "d"], anything), "speed": (["m/s", "km/h"], measured),
        "gas": (["m³", "ft³"], summed), "volume": (["L", "mL", "m³"], summed),
        "volume_storage": (["L", "mL", "m³"], measured), "volume_flow_rate": (["m³/h", "L/min"], measured),
        "water": (["L", "m³"], summed), "conductivity": (["µS/cm", "mS/cm", "S/cm"], measured),
        "precipitation": (["mm", "cm", "in"], anything), "signal_strength": (["dBm", "dB"], measured),
    ]
    static let binarySensors: Set<String> = [
        "battery", "battery_charging", "carbon_monoxide", "cold", "connectivity", "door", "garage_door", "gas", "heat",
        "light", "lock", "moisture", "motion", "moving", "occupancy", "opening", "plug", "power", "presence", "problem",
        "running", "safety", "smoke", "sound", "tamper", "update", "vibration", "window",
    ]
    static let events: Set<String> = ["button", "doorbell", "motion"]

    /// Each object of BTHome, and packets of the other formats.
    static let packets: [[UInt8]] =
        (0...255 as ClosedRange<UInt8>).flatMap { identifier in
            // What is behind an object is numbers of packets, of two octets: one of both is complete.
            ["01010000000000", "0101000000000000"].map { bthome(hexadecimal(identifier) + $0) }
        }
        + [
            "11FF990403291A1ECE1EFC18F94202CA0B53", "1BFF99040512FC5394C37C0004FFFC040CAC364200CDCBB8334C884F",
            "1116AAFE20000BB81A8000000001000000FF", "1AFF4C000215FB0B57A2822844CD913A94A122BA120600010002D1",
        ].map { [UInt8](hexadecimal: $0) ?? [] }

    struct Message {
        var component: String
        var object: [String: Any]
    }

    /// What the gateway says of a packet: the announcements, and the other messages by topic.
    static func messages(_ packet: [UInt8]) throws -> (announcements: [Message], others: [String: [UInt8]]) {
        var pipeline = Pipeline(PipelineSettings())
        var preset = PresetName.homeassistant.preset(Topics(gateway: "attic"), expiry: .seconds(300), capacity: 10)
        var announcements: [Message] = [], others: [String: [UInt8]] = [:]
        for publication in pipeline.receive(Reception(packet, at: 1), at: epoch).flatMap({
            preset.publications(for: $0)
        }) {
            let levels = publication.topic.split(separator: "/")
            guard levels.first == "homeassistant" else {
                others[publication.topic] = publication.payload
                continue
            }
            // <discovery>/<component>/<node>/<object>/config, with letters, digits, _ and - in the last two.
            try #require(levels.count == 5 && levels[4] == "config" && publication.isRetained)
            #expect(
                levels[2...3].allSatisfy {
                    $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-".contains($0)) }
                })
            let object = try JSONSerialization.jsonObject(with: Data(publication.payload)) as? [String: Any]
            announcements.append(Message(component: String(levels[1]), object: try #require(object)))
        }
        return (announcements, others)
    }

    @Test(arguments: packets) func announcements(packet: [UInt8]) throws {
        let (announcements, others) = try Self.messages(packet)
        for message in announcements {
            let (component, object) = (message.component, message.object)
            let allowed = try #require(Self.members[component], "\(component)")
            #expect(Set(object.keys).isSubset(of: allowed), "\(object)")
            let device = try #require(object["device"] as? [String: Any])
            #expect(Set(device.keys).isSubset(of: ["identifiers", "connections", "name", "manufacturer", "model"]))
            #expect((object["origin"] as? [String: String])?["name"] == "ble-gateway")
            #expect((object["unique_id"] as? String)?.isEmpty == false)
            // A sensor is told at once what its state is.
            let topic = try #require(object["state_topic"] as? String)
            let payload = try #require(others[topic], "\(topic)")
            let state = try JSONSerialization.jsonObject(with: Data(payload), options: .fragmentsAllowed)
            let kind = object["device_class"] as? String, unit = object["unit_of_measurement"] as? String
            let stateClass = object["state_class"] as? String
            #expect([nil, "diagnostic"].contains(object["entity_category"] as? String))
            switch component {
            case "event":
                let types = try #require(object["event_types"] as? [String])
                #expect(types.contains(try #require((state as? [String: Any])?["event_type"] as? String)))
                #expect(kind.map(Self.events.contains) ?? true)
            case "binary_sensor": #expect(kind.map(Self.binarySensors.contains) ?? true, "\(object)")
            default:
                #expect(stateClass.map(Self.anything.contains) ?? true)
                guard let kind else { break }
                let (units, states) = try #require(Self.sensors[kind], "\(kind)")
                #expect(unit.map(units.contains) ?? false, "\(object)")
                #expect(stateClass.map(states.contains) ?? true, "\(object)")
            }
            guard let template = object["value_template"] as? String else { continue }
            let member = try #require(template.split(separator: "value_json.").last?.split(separator: " ").first)
            #expect((state as? [String: Any])?[String(member)] != nil, "\(template) of \(state)")
        }
    }

    @Test func thereIsSomethingToCheck() throws {
        let components = try Self.packets.flatMap { try Self.messages($0).announcements.map(\.component) }
        #expect(components.count { $0 == "sensor" } > 60)
        #expect(components.count { $0 == "binary_sensor" } > 25)
        #expect(components.count { $0 == "event" } >= 2)
    }
}
