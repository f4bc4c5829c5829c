import ArgumentParser
import Foundation
import GatewayConfiguration
import GatewayMQTT
import GatewayPipeline

/// `ble-gateway status`: shows the state of the gateways at a broker.
struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the state of the gateways at a broker.",
        discussion: """
            Reads the state from the broker, so it works from any machine. With --gateway, only that gateway is shown. \
            Exits with status 3 if the broker knows of no gateway, and with 4 if a gateway is offline or none of its \
            adapters is scanning.

            EXAMPLES
              ble-gateway status --broker mqtt://localhost
              ble-gateway status --config /etc/ble-gateway.yaml --gateway attic
            """)

    @OptionGroup var options: GatewayOptions

    @Option(help: ArgumentHelp("homeassistant, theengs or raw.", valueName: "name"))
    var preset: PresetName?

    func run() async throws {
        var configuration = try options.configuration()
        guard let broker = configuration.broker else {
            throw ValidationError("no broker is set; give --broker or --config")
        }
        if let preset { configuration.choose(preset) }
        configuration.topics.gateway = options.gateway ?? "+"
        let availability = configuration.makePreset().availabilityTopic
        let messages: [MQTTMessage]
        do throws(BrokerFailure) {
            messages = try MQTTInquiry.retained(matching: [configuration.topics.health, availability], at: broker)
        } catch {
            throw ProgramFailure(description: "\(broker.displayName): \(error)")
        }
        let states = GatewayState.states(in: messages, configuration)
        guard !states.isEmpty else {
            print("the broker knows of no gateway")
            throw ExitCode(3)
        }
        let now = Date()
        for state in states { print(state.line(at: now)) }
        if states.contains(where: { !$0.isWell }) { throw ExitCode(4) }
    }
}

/// The state of a gateway, according to its broker.
struct GatewayState {
    /// The members of its health message that are shown.
    struct Health: Decodable {
        struct Adapter: Decodable {
            var name: String
            var scanning: Bool
        }
        struct Broker: Decodable {
            var waiting: Int
            var droppedPassing: UInt64
            var droppedOverload: UInt64
            var droppedSuperseded: Int64
            var droppedOldest: Int64
        }
        var time: Int64
        var uptime: Int64
        var well: Bool
        var devices: Int
        var adapters: [Adapter]
        var broker: Broker
    }

    var name: String
    var isOnline = false
    var health: Health?

    var isWell: Bool { isOnline && health?.well == true }

    /// The gateways to which the messages belong, sorted by name.
    static func states(in messages: [MQTTMessage], _ configuration: Configuration) -> [GatewayState] {
        var states: [String: GatewayState] = [:]
        for message in messages {
            let levels = message.topic.split(separator: "/")
            guard levels.count >= 2 else { continue }
            let name = String(levels[levels.count - 2])
            var state = states[name] ?? GatewayState(name: name)
            if levels.last == "health" {
                let decoder = JSONDecoder()
                decoder.keyDecodingStrategy = .convertFromSnakeCase
                state.health = try? decoder.decode(Health.self, from: Data(message.payload))
            } else {
                state.isOnline = message.payload == Array("online".utf8)
            }
            states[name] = state
        }
        return states.values.sorted { $0.name < $1.name }
    }

    func line(at now: Date) -> String {
        let name = Publication(topic: "", text: name).line.dropFirst()
        guard let health else { return "\(name): \(isOnline ? "online" : "offline"), no further state is known" }
        let age = max(0, Int64(now.timeIntervalSince1970) - health.time / 1000)
        let adapters = health.adapters.map { "\($0.name) \($0.scanning ? "scanning" : "silent")" }
        let broker = health.broker
        let passing = broker.droppedPassing &+ broker.droppedOverload
        let lost = passing &+ UInt64(max(0, broker.droppedSuperseded &+ broker.droppedOldest))
        let text =
            "\(isOnline ? "online" : "offline"), \(health.devices) devices, "
            + "\(adapters.isEmpty ? "no adapter" : adapters.joined(separator: ", ")), up \(health.uptime) s, "
            + "\(health.broker.waiting) messages waiting, \(lost) dropped; reported \(age) s ago"
        // Escaped, because anyone may write to a broker.
        return "\(name): " + Publication(topic: "", text: text).line.dropFirst()
    }
}
