import GatewayMQTT
import Metrics

/// The gateway's numbers for whatever metrics backend a program has chosen with swift-metrics. `ble-gateway` itself has none: its
/// numbers are in the health. They are the same ones.
struct GatewayMetrics {
    private let factory: any MetricsFactory
    /// Counters, and what they have been told of.
    private var counters: [String: (counter: Counter, told: UInt64)] = [:]
    private let devices: Gauge, waiting: Gauge, scanning: Gauge

    init(_ factory: any MetricsFactory = MetricsSystem.factory) {
        self.factory = factory
        devices = Gauge(label: "ble_gateway_devices", factory: factory)
        waiting = Gauge(label: "ble_gateway_messages_waiting", factory: factory)
        scanning = Gauge(label: "ble_gateway_adapters_scanning", factory: factory)
    }

    /// Tells how a gateway is now.
    mutating func record(_ health: Health) {
        for (name, count) in health.packetCounts { add("ble_gateway_packets_\(name)", count) }
        for (name, count) in health.brokerCounts { add("ble_gateway_messages_\(name)", count) }
        devices.record(health.devices)
        waiting.record(health.broker.waiting)
        scanning.record(health.adapters.count { $0.isScanning })
    }

    private mutating func add(_ label: String, _ count: UInt64) {
        var (counter, told) = counters[label] ?? (Counter(label: label, factory: factory), 0)
        // Those of the broker begin with what an earlier process has counted.
        if count > told { counter.increment(by: Int64(clamping: count - told)) }
        told = max(told, count)
        counters[label] = (counter, told)
    }
}
