import BluetoothBase
import BluetoothHost

/// Notifications from application to application: two hosts, two controllers and the air between them, on one thread.
enum EndToEnd {
    /// Sends `count` notifications of 20 octets as fast as back-pressure lets them, and returns how many arrived.
    static func notify(_ count: Int) -> Int {
        var laboratory = Laboratory()
        let handle = laboratory.value, link = laboratory.link(Laboratory.peripheral)
        let value = [UInt8](repeating: 7, count: 20)
        var sent = 0
        while laboratory.received < count {
            while sent < count,
                (try? laboratory.hosts[Laboratory.peripheral].notify(handle, value: value.span, on: link)) == true
            {
                sent += 1
            }
            laboratory.settle()
            guard laboratory.received < count else { break }
            guard let deadline = laboratory.air.nextDeadline else { break }
            laboratory.step(to: deadline)
        }
        return laboratory.received
    }

    /// How often anything happens by itself in `duration` on a link that carries nothing.
    static func idle(for duration: Duration) -> Int {
        var laboratory = Laboratory()
        laboratory.run(for: .seconds(5))
        laboratory.deadlines = 0
        laboratory.run(for: duration)
        return laboratory.deadlines
    }
}
