import GatewayMQTT
import GatewayPipeline

/// How a gateway is, as it tells.
struct Health {
    var gateway: String
    var uptime: Duration
    var time: WallTime
    var adapters: [AdapterSource.Status]
    var counters: PipelineCounters
    var devices: Int
    var broker: SinkStatus

    /// The message that tells it.
    func publication(_ topic: String) -> Publication {
        Publication(topic: topic, text: json, isRetained: true, importance: .passing)
    }

    /// Whether a gateway does what it is there for: an adapter scans.
    var isWell: Bool { adapters.contains { $0.isScanning } }

    /// JSON. Names of adapters are the configuration's; what is not is a number.
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
        object.add(
            "packets",
            JSONObject {
                $0.add("received", counters.received)
                $0.add("filtered", counters.filtered)
                $0.add("repeated", counters.repeated)
                $0.add("undecoded", counters.undecoded)
                $0.add("without_key", counters.withoutKey)
                $0.add("replayed", counters.replayed)
                $0.add("reported", counters.reported)
                $0.add("delayed", counters.delayed)
                $0.add("dropped_events", counters.droppedEvents)
                $0.add("displaced_devices", counters.displaced)
            })
        object.add(
            "broker",
            JSONObject {
                $0.add("connections", broker.connections)
                $0.add("delivered", broker.delivered)
                $0.add("sent", broker.sent)
                $0.add("waiting", broker.waiting)
                $0.add("dropped_passing", broker.droppedPassing)
                $0.add("dropped_overload", broker.droppedOverload)
                $0.add("dropped_superseded", broker.droppedSuperseded)
                $0.add("dropped_oldest", broker.droppedOldest)
                $0.add("refused", broker.refused)
            })
        return object.text
    }
}

/// The version of the gateway.
public enum GatewayVersion {
    public static let number = "0.1.0"
}
