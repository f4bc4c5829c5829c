import Foundation
import Testing
import VirtualRadio

// [snippet]
import BluetoothAdapter
import Synchronization

/// Connects to the first device in range with a heart-rate service, and passes its measurements to a closure. It uses
/// no tasks and no delegates.
final class HeartRateFace: AdapterObserver {
    private enum Step { case idle, scanning, connecting, discovering(LinkIdentifier), listening }

    private let runner: AdapterRunner
    private let step = Mutex(Step.idle)
    private let measured: @Sendable (UInt8) -> Void
    private let token = CallToken(rawValue: 1)

    init(_ runner: AdapterRunner, measured: @escaping @Sendable (UInt8) -> Void) {
        self.runner = runner
        self.measured = measured
        _ = runner.attach(self)
    }

    func receive(_ batch: borrowing EventBatch) {
        for event in batch.events {
            switch event {
            case .adapter(.ready):
                begin(batch.user, .scanning, .scan(ScanFilter(services: ["180D"]), ScanParameters()))
            case .sightings(_, let range):
                guard case .scanning = step.withLock({ $0 }) else { continue }
                begin(batch.user, nil, .cancel)
                begin(batch.user, .connecting, .connect(batch.sightings[range.lowerBound].peer, ConnectRequest()))
            case .ended(_, .success(.link(let link))):
                begin(
                    batch.user, .discovering(link),
                    .perform(link, .discoverCharacteristics(in: 1...0xFFFF, uuid: "2A37")))
            case .ended(_, .success(.gatt(.characteristics(let found)))):
                guard case .discovering(let link) = step.withLock({ $0 }), let rate = found.first else { continue }
                let request = SubscriptionRequest(
                    characteristic: rate.valueHandle, end: rate.endHandle, configuration: .notifications)
                begin(batch.user, .listening, .subscribe(link, request))
            case .value(_, _, let payload) where payload.count > 1:
                measured(batch.octets(of: payload)[1])
            case .linkEnded:
                begin(batch.user, .scanning, .scan(ScanFilter(services: ["180D"]), ScanParameters()))
            default: continue
            }
        }
    }

    private func begin(_ user: UserID, _ next: Step?, _ call: HostCall.Kind) {
        if let next { step.withLock { $0 = next } }
        runner.post(call, token: token, from: user)
    }
}
// [snippet]

@Suite("A custom face of the seam")
struct OwnFaceTests {
    @Test("The face receives the sensor's measurements and reconnects to it")
    func measures() throws {
        let radio = VirtualRadio(time: .manual)
        let sensor = try Witness(on: radio)
        let service = GATTServiceDefinition(
            uuid: "180D", characteristics: [.init(uuid: "2A37", properties: [.notify])])
        let rate = try #require(sensor.publish(service)?.characteristics.first)
        var advertisement = AdvertisementData()
        advertisement.serviceUUIDs = ["180D"]
        sensor.post(.advertise(AdvertisingRequest(advertisement)), 1)

        let rates = Mutex<[UInt8]>([])
        let runner = try AdapterRunner(radio.addController(), options: .init(host: HostConfiguration(seed: 2)))
        let face = HeartRateFace(runner) { rate in rates.withLock { $0.append(rate) } }
        for round in 1...2 {
            radio.advanceHosts(by: .seconds(5))
            let link = try #require(sensor.links.last)
            sensor.post(.notify(link, rate.value, [0, UInt8(70 + round)]))
            radio.advanceHosts(by: .seconds(1))
            sensor.post(.disconnect(link, reason: nil))
        }
        #expect(rates.withLock { $0 } == [71, 72])
        withExtendedLifetime(face) {}
    }

    @Test("The documentation shows exactly this code")
    func documented() throws {
        let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let code = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
            .components(separatedBy: "// [snippet]\n")[1]
        let page = try String(
            contentsOf: directory.appendingPathComponent("../../Documentation/Seam.md"), encoding: .utf8)
        #expect(page.contains("```swift\n\(code)```"))
    }
}
