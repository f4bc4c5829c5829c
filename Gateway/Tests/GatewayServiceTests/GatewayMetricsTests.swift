import Foundation
import GatewayMQTT
import GatewayPipeline
import MetricsTestKit
import Testing
@testable import GatewayService

/// Metrics and health tell the same.
@Suite struct GatewayMetricsTests {
    static func health(packets: UInt64, delivered: UInt64, waiting: Int) -> Health {
        var counters = PipelineCounters(), broker = SinkStatus()
        counters.received = packets
        counters.repeated = packets / 2
        (broker.delivered, broker.waiting, broker.droppedOldest) = (delivered, waiting, 7)
        return Health(
            gateway: "attic", uptime: .seconds(1), time: WallTime(milliseconds: 0),
            adapters: [AdapterSource.Status(name: "hci0", isScanning: true), AdapterSource.Status(name: "hci1")],
            counters: counters, devices: 3, broker: broker)
    }

    @Test func countsAndGauges() throws {
        let system = TestMetrics()
        var metrics = GatewayMetrics(system)
        let last = Self.health(packets: 25, delivered: 9, waiting: 4)
        for health in [Self.health(packets: 10, delivered: 0, waiting: 5), last, last] { metrics.record(health) }
        for (name, count) in last.packetCounts {
            #expect(try system.expectCounter("ble_gateway_packets_\(name)").totalValue == Int64(count), "\(name)")
        }
        for (name, count) in last.brokerCounts {
            #expect(try system.expectCounter("ble_gateway_messages_\(name)").totalValue == Int64(count), "\(name)")
        }
        #expect(try system.expectGauge("ble_gateway_devices").lastValue == 3)
        #expect(try system.expectGauge("ble_gateway_messages_waiting").lastValue == 4)
        #expect(try system.expectGauge("ble_gateway_adapters_scanning").lastValue == 1)
    }

    @Test func healthHasThemAll() throws {
        let health = Self.health(packets: 25, delivered: 9, waiting: 4)
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(health.json.utf8)) as? [String: Any])
        let packets = try #require(object["packets"] as? [String: UInt64])
        #expect(packets == Dictionary(uniqueKeysWithValues: health.packetCounts.map { ($0.name, $0.count) }))
        let broker = try #require(object["broker"] as? [String: UInt64])
        #expect(broker["waiting"] == 4)
        #expect(
            broker.filter { $0.key != "waiting" }
                == Dictionary(uniqueKeysWithValues: health.brokerCounts.map { ($0.name, $0.count) }))
    }
}
