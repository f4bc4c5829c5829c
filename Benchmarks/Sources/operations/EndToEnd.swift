import BluetoothBase
import BluetoothHost
import BluetoothSimulation
import Synchronization

/// Notifications from application to application: two hosts, two controllers and the air between them, on one thread.
enum EndToEnd {
    /// The number of values that the central received in notifications.
    private final class Count: Sendable {
        let value = Atomic(0)
    }

    /// Sends `count` notifications of 20 octets as fast as back-pressure allows, and returns the number that arrived.
    static func notify(_ count: Int) -> Int {
        var laboratory = Laboratory()
        let handle = laboratory.value, link = laboratory.link(Laboratory.peripheral)
        let value = [UInt8](repeating: 7, count: 20)
        let received = Count()
        laboratory.world.observe = { index, event in
            if case .client(_, .notification) = event { received.value.add(1, ordering: .relaxed) }
        }
        var sent = 0
        while received.value.load(ordering: .relaxed) < count {
            while sent < count,
                (try? laboratory.world.hosts[Laboratory.peripheral].notify(handle, value: value.span, on: link)) == true
            {
                sent += 1
            }
            guard laboratory.world.step(until: Instant(nanoseconds: .max)) else { break }
        }
        return received.value.load(ordering: .relaxed)
    }

    /// Returns the number of simulation steps in `duration` on a link that carries no data.
    static func idle(for duration: Duration) -> Int {
        var world = Laboratory().world
        world.run(for: .seconds(5))
        let end = world.now.advanced(by: duration)
        var count = 0
        while world.step(until: end) { count += 1 }
        return count
    }
}
