import BluetoothBase
import BluetoothHCI
import Synchronization
import Testing
import VirtualRadio

@Suite("What happens around the controllers of a radio")
struct SurroundingsTests {
    @Test func `scheduled actions are performed in order, at their instants`() async {
        let radio = VirtualRadio(time: .manual)
        let log = Mutex<[String]>([])
        for (name, delay) in [("late", 30), ("early", 10), ("early too", 10), ("overdue", -5)] {
            radio.schedule(at: Instant.zero.advanced(by: .milliseconds(delay))) {
                log.withLock { $0.append("\(name) at \(radio.now.nanoseconds / 1_000_000)") }
                guard name == "early" else { return }
                radio.schedule(at: radio.now.advanced(by: .milliseconds(5))) { log.withLock { $0.append("next") } }
            }
        }
        await radio.advance(by: .milliseconds(20))
        #expect(log.withLock { $0 } == ["overdue at 0", "early at 10", "early too at 10", "next"])
        radio.advanceHosts(by: .milliseconds(20))
        #expect(log.withLock { $0.last } == "late at 30")
    }

    @Test func `a scheduled action is performed on the system's time as well`() async {
        let radio = VirtualRadio()
        await withCheckedContinuation { continuation in
            radio.schedule(at: radio.now.advanced(by: .milliseconds(1))) { continuation.resume() }
        }
    }

    @Test func `weather fades signals until it is cleared, and keeps a path loss that was set meanwhile`() async {
        let radio = VirtualRadio(time: .manual)
        let first = radio.addController(), second = radio.addController()
        radio.setWeather(seed: 1)
        var hasFaded = false
        for _ in 0..<2000 where !hasFaded {
            await radio.advance(by: .milliseconds(50))
            hasFaded = loss(radio, first, second) > 200
        }
        #expect(hasFaded)
        radio.setPathLoss(between: first, and: second, to: 70)
        radio.clearWeather()
        #expect(loss(radio, first, second) == 70)
        await radio.advance(by: .seconds(100))
        #expect(loss(radio, first, second) == 70)
    }

    @Test func `weather that is cleared during a fade restores the path loss`() async {
        let radio = VirtualRadio(time: .manual)
        let first = radio.addController(), second = radio.addController()
        radio.setWeather(seed: 2)
        for _ in 0..<2000 where loss(radio, first, second) <= 200 { await radio.advance(by: .milliseconds(50)) }
        radio.clearWeather()
        #expect(loss(radio, first, second) == 50)
    }

    private func loss(_ radio: VirtualRadio, _ first: VirtualRadio.Port, _ second: VirtualRadio.Port) -> Int {
        radio.withAir { air, _ in air.pathLoss(from: first.identifier, to: second.identifier) }
    }
}
