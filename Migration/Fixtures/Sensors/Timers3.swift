import Foundation

/// Timers without a value: one for a run loop, one with a date, one whose method takes nothing.
class Poller {
    private var timers: [Timer] = []

    func start() {
        let polling = Timer(timeInterval: 1, target: self, selector: #selector(Poller.poll(_:)), userInfo: nil, repeats: true)
        RunLoop.main.add(polling, forMode: .common)
        let start = Timer(
            fireAt: Date(timeIntervalSinceNow: 5), interval: 2, target: self, selector: #selector(self.tick),
            userInfo: nil, repeats: true)
        timers = [polling, start]
        timers.append(
            Timer.scheduledTimer(
                timeInterval: 3, target: self, selector: #selector(tick), userInfo: ["unused": true], repeats: false))
        timers.append(Timer(timeInterval: 4, repeats: false) { [weak self] _ in self?.tick() })
    }

    @objc public func poll(_ timer: Timer) { tick() }
    @objc public func tick() {}
}
