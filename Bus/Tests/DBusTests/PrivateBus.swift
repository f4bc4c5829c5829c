import DBus
import Foundation
import Synchronization

/// A bus that all tests of this process share, and that ends with it.
private final class SharedBus: Sendable {
    static let address: String = {
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        // The input ends with this process, however it ends.
        shell.arguments = [
            "-c", "dbus-daemon --session --nofork --nopidfile --print-address 3>&- & read -r end; kill $!",
        ]
        let output = Pipe(), input = Pipe()
        shell.standardInput = input
        shell.standardOutput = output
        shell.standardError = FileHandle.nullDevice
        do { try shell.run() } catch { return "\(error)" }
        inputs.withLock { $0.append(input) }
        var line = Data()
        while line.last != 10 {
            let octets = output.fileHandleForReading.availableData
            if octets.isEmpty { break }
            line += octets
        }
        return String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }()

    private static let inputs = Mutex<[Pipe]>([])
}

/// Connections to a bus, which one thread processes in turn.
final class PrivateBus {
    let address: String
    private let loop: EventLoop
    private var connections: [BusConnection] = []

    init() throws {
        address = SharedBus.address
        loop = try EventLoop()
    }

    func connect() throws -> BusConnection {
        let connection = try BusConnection(to: .address(address))
        connections.append(connection)
        try loop.watch(connection.descriptor, for: .readable) { _ in }
        return connection
    }

    struct TimedOut: Error {}

    /// Processes all connections until the condition holds.
    func run(until isOver: () -> Bool) throws {
        let limit = MonotonicClock.microseconds + 20_000_000
        while true {
            var isBusy = false
            for connection in connections where try connection.process(limit: 100) { isBusy = true }
            if isOver() { return }
            guard MonotonicClock.microseconds < limit else { throw TimedOut() }
            let deadline = connections.compactMap(\.deadline).min() ?? limit
            if !isBusy { loop.wait(until: min(deadline, limit)) }
        }
    }

    /// Calls a method and waits for its reply.
    func call(
        _ client: BusConnection, _ destination: String, _ path: String, _ interface: String, _ member: String,
        _ values: DBusValue...
    ) throws -> Result<[DBusValue], BusError> {
        var result: Result<[DBusValue], BusError>?
        let pending = client.call(
            destination, ObjectPath(path) ?? .root, interface, member, values, timeout: .seconds(15)
        ) { (reply: Result<[DBusValue], BusError>) in result = reply }
        try run { result != nil }
        withExtendedLifetime(pending) {}
        return result ?? .failure(.noReply)
    }
}
