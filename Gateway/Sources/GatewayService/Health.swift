import GatewayMQTT
import GatewayPipeline

/// The health of a gateway, as it publishes it.
struct Health {
    var gateway: String
    var uptime: Duration
    var time: WallTime
    var adapters: [AdapterSource.Status]
    var counters: PipelineCounters
    var devices: Int
    var broker: SinkStatus

    /// The message that reports the health.
    func publication(_ topic: String) -> Publication {
        Publication(topic: topic, text: json, isRetained: true, importance: .passing)
    }

    /// Whether the gateway fulfills its purpose: an adapter is scanning.
    var isWell: Bool { adapters.contains { $0.isScanning } }

    /// The health in JSON. No text in it comes from received packets.
    var json: String {
        var object = JSONObject()
        object.add("gateway", gateway)
        object.add("version", GatewayVersion.number)
        object.add("time", time.milliseconds)
        object.add("uptime", uptime.components.seconds)
        object.add("well", isWell)
        object.add("devices", devices)
        let adapters = adapters.map { adapter in
            JSONObject {
                $0.add("name", adapter.name)
                $0.add("scanning", adapter.isScanning)
                $0.add("received", adapter.received)
                $0.add("dropped", adapter.dropped)
                $0.add("failure", adapter.failure)
            }
        }
        object.add("adapters", adapters)
        object.add("packets", Self.object(packetCounts))
        object.add("broker", Self.object(brokerCounts + [("waiting", UInt64(broker.waiting))]))
        return object.text
    }

    /// The numbers of packets since the start, by result. The message and the metrics report the same numbers.
    var packetCounts: [(name: String, count: UInt64)] {
        [
            ("received", counters.received), ("filtered", counters.filtered), ("repeated", counters.repeated),
            ("undecoded", counters.undecoded), ("without_key", counters.withoutKey), ("replayed", counters.replayed),
            ("reported", counters.reported), ("delayed", counters.delayed), ("dropped_events", counters.droppedEvents),
            ("displaced_devices", counters.displaced),
        ]
    }

    /// The numbers of messages by result, including those that an earlier process dropped.
    var brokerCounts: [(name: String, count: UInt64)] {
        [
            ("connections", broker.connections), ("delivered", broker.delivered), ("sent", broker.sent),
            ("dropped_passing", broker.droppedPassing), ("dropped_overload", broker.droppedOverload),
            ("dropped_superseded", UInt64(clamping: broker.droppedSuperseded)),
            ("dropped_oldest", UInt64(clamping: broker.droppedOldest)), ("refused", broker.refused),
        ]
    }

    private static func object(_ counts: [(name: String, count: UInt64)]) -> JSONObject {
        JSONObject { object in
            for (name, count) in counts { object.add(name, count) }
        }
    }
}

/// The version of the gateway.
public enum GatewayVersion {
    /// The version as `MAJOR.MINOR.PATCH`.
    public static let number = "0.1.0"
}
