import BluetoothLE
import GatewayPipeline
import Testing
@testable import GatewayService

/// Whatever comes from the air or the broker: an answer or nothing, and never a trap.
@Suite struct NoiseTests {
    /// The same numbers in every run.
    struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state ^ state >> 29) &* 0xBF58_476D_1CE4_E5B9
        }
    }

    @Test func advertisements() {
        var random = Generator(state: 1)
        for preset in PresetName.allCases {
            var settings = PipelineSettings()
            settings.comparison = preset.comparison
            settings.tellsUndecoded = preset.tellsUndecoded
            settings.capacity = 20
            settings.averaging = preset == .theengs ? .seconds(1) : nil
            var pipeline = Pipeline(settings)
            var publisher = preset.preset(Topics(gateway: "attic"), expiry: .seconds(300), capacity: 20)
            // Beginnings of what is decoded, so that noise gets past the first octets.
            let beginnings: [[UInt8]] = [
                [], [0x16, 0xD2, 0xFC, 0x40], [0x16, 0xD2, 0xFC, 0x41], [0xFF, 0x99, 0x04, 0x05],
                [0xFF, 0x99, 0x04, 0x03],
                [0x16, 0xAA, 0xFE, 0x10], [0x16, 0xAA, 0xFE, 0x20], [0xFF, 0x4C, 0x00, 0x02, 0x15], [0x09],
            ]
            for step in 0..<5000 {
                let beginning = beginnings.randomElement(using: &random) ?? []
                let tail = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                let data = [UInt8(truncatingIfNeeded: beginning.count + tail.count)] + beginning + tail
                let now = Instant(nanoseconds: UInt64(step) * 50_000_000)
                let reception = Reception(
                    adapter: "hci0", address: DeviceAddress(UInt64.random(in: 0...30, using: &random), kind: .public),
                    rssi: Int8.random(in: -128...127, using: &random), advertisingData: data, instant: now)
                let time = WallTime(milliseconds: 0)
                let reports = pipeline.receive(reception, at: time) + pipeline.advance(to: now, at: time)
                for publication in reports.flatMap({ publisher.publications(for: $0) }) {
                    #expect(publication.topic.split(separator: "/").allSatisfy { Topics.isLevel(String($0)) })
                    #expect(publication.payload.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
                }
            }
            #expect(pipeline.deviceCount <= 20)
            #expect(pipeline.counters.reported > 0)
        }
    }

    @Test func requests() {
        var random = Generator(state: 2)
        let good = Array(
            #"{"id":"7","owner":"me","device":"A4:C1:38:11:22:33","do":"write","service":"180F","characteristic":"2A19","value":"01","timeout":5}"#
                .utf8)
        var accepted = 0
        for _ in 0..<20_000 {
            var octets = good
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let place = Int.random(in: 0..<octets.count, using: &random)
                octets[place] = UInt8.random(in: 0...255, using: &random)
            }
            do throws(RemoteRefusal) {
                _ = try RemoteRequest(octets)
                accepted += 1
            } catch {
                #expect(error.code == .malformed)
            }
        }
        #expect(accepted > 1000)
    }
}
