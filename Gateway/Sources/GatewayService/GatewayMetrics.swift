import GatewayMQTT
import Metrics

/// Reports the gateway's numbers to the metrics backend that a program has selected with swift-metrics. `ble-gateway`
/// selects none: it publishes the same numbers in its health message.
struct GatewayMetrics {
    private let factory: any MetricsFactory
    /// The counters, and the total reported to each.
    private var counters: [String: (counter: Counter, told: UInt64)] = [:]
    private let devices: Gauge, waiting: Gauge, scanning: Gauge

    init(_ factory: any MetricsFactory = MetricsSystem.factory) {
        self.factory = factory
        devices = Gauge(label: "ble_gateway_devices", factory: factory)
        waiting = Gauge(label: "ble_gateway_messages_waiting", factory: factory)
        scanning = Gauge(label: "ble_gateway_adapters_scanning", factory: factory)
    }

    /// Records the current state of a gateway.
    mutating func record(_ health: Health) {
        for (name, count) in health.packetCounts { add("ble_gateway_packets_\(name)", count) }
        for (name, count) in health.brokerCounts { add("ble_gateway_messages_\(name)", count) }
        devices.record(health.devices)
        waiting.record(health.broker.waiting)
        scanning.record(health.adapters.count { $0.isScanning })
    }

    private mutating func add(_ label: String, _ count: UInt64) {
        var (counter, told) = counters[label] ?? (Counter(label: label, factory: factory), 0)
        // Some of the broker's counts start at the total of an earlier process.
        if count > told { counter.increment(by: Int64(clamping: count - told)) }
        told = max(told, count)
        counters[label] = (counter, told)
    }
}
