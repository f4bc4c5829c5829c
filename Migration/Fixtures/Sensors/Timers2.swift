import Foundation

/// Timers of a type, whose method has a label and shares its name with another one.
public final class Beacons: NSObject {
    private static var timers: [String: Timer] = [:]

    static func advertise(_ name: String, every interval: TimeInterval) {
        timers[name] = Timer.scheduledTimer(
            timeInterval: interval, target: self, selector: #selector(send(timer:)), userInfo: (name, interval),
            repeats: true)
    }

    @objc private static func send(timer: Timer) {
        guard let (name, _) = timer.userInfo as? (String, TimeInterval) else { return timer.invalidate() }
        send(name, count: 1)
    }

    private static func send(_ name: String, count: Int) { print(name, count) }
}
