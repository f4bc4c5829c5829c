import ArgumentParser
import BluetoothLE
import BluetoothCommandLine
import Synchronization

/// `ble notify`: prints the values that a device sends.
struct Notify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Subscribes to values of a device and prints each one it sends.",
        discussion: HelpText.discussion(
            """
            Runs until Ctrl-C or another signal, --count or --time ends it. If values are lost on the link, a line \
            marks the gap. Exits with status 3 if the device was not connected in time or lacks a characteristic, or \
            if the characteristic neither notifies nor indicates. Exits with status 4 if the link was lost, unless \
            --reconnect is given.
            """,
            examples: [
                "ble notify C0:11:22:33:44:55 2A37",
                "ble notify Sensor 2A6E 2A6F --csv --time 3600 --reconnect > log.csv",
                "ble notify Sensor 2A37 --json | jq .fields.heartRate",
            ]))

    @OptionGroup var device: DeviceOptions

    @Argument(
        help: ArgumentHelp(
            "The values to subscribe to: UUIDs, SERVICE/UUID, or handles such as 0x0010.", valueName: "uuid"))
    var selectors: [AttributeSelector]

    @OptionGroup var output: ValueOutputOptions

    @Option(help: "Stop after this many values, counted across all characteristics.")
    var count: PositiveCount?

    @Option(help: ArgumentHelp("Stop after this time, counted from the first connection.", valueName: "seconds"))
    var time: Seconds?

    @Flag(help: "If the link or the adapter is lost, try to reconnect, without a time limit.")
    var reconnect = false

    @OptionGroup var transport: TransportOptions
    @OptionGroup var pairing: PairingOptions

    func run() async throws {
        let lines = ValueLines(options: output, isLabelled: selectors.count > 1)
        let printer = ValuePrinter(lines, count: count?.value)
        try await transport.withAdapter(within: device.timeout, pairing: pairing) { adapter, attempts in
            let search = DeviceSearch(attempts)
            let connection = try await attempts.run(on: adapter) {
                try await search.connect(to: device.device, on: adapter)
            }
            let progress = NotifyProgress()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    if reconnect {
                        try await receive(from: connection, on: adapter, printer, progress)
                    } else {
                        try await receiveOnce(from: connection, on: adapter, search, printer, progress)
                    }
                }
                if let time { group.addTask { try await Task.sleep(for: time.duration) } }
                defer { group.cancelAll() }
                // The first task that ends also ends the others.
                try await group.next()
            }
            guard progress.hasSubscribed else {
                try Task.checkCancellation()
                throw CommandFailure(
                    .linkLost,
                    "could not subscribe to \(connection.address) in \(time.map { "\($0) s" } ?? "time"); "
                        + "increase --time")
            }
        }
    }

    // MARK: Links

    /// Prints values until the limit is reached. It reconnects only if this device's controller was reset.
    private func receiveOnce(
        from first: Connection, on adapter: Adapter, _ search: DeviceSearch, _ printer: ValuePrinter,
        _ progress: NotifyProgress
    ) async throws {
        var connection: Connection? = first, search = search
        while true {
            let (link, subscriptions) = try await search.attempts.run(on: adapter) { [search] in
                // The first attempt already has a connection.
                let former = connection
                connection = nil
                let link = if let former { former } else { try await search.connect(to: device.device, on: adapter) }
                return (link, try await subscribe(on: link, search.attempts))
            }
            progress.subscribed()
            do {
                return try await show(subscriptions, on: link, printer)
            } catch let error as BluetoothError where error.isLossOfController {
                say("\(error); trying again")
                // The full timeout applies again, until the controller is back.
                search = DeviceSearch(within: device.timeout)
            }
        }
    }

    /// Prints values until the limit is reached, over one link after another.
    private func receive(
        from first: Connection, on adapter: Adapter, _ printer: ValuePrinter, _ progress: NotifyProgress
    ) async throws {
        var connection: Connection? = first
        var pauses = ReconnectPauses()
        while true {
            do {
                if connection == nil { connection = try await device.connect(adapter) }
                if let connection {
                    let subscriptions = try await subscribe(on: connection, Attempts(within: device.timeout))
                    progress.subscribed()
                    pauses.reset()
                    try await show(subscriptions, on: connection, printer)
                }
                return
            } catch {
                guard let why = Self.reconnectable(error) else { throw error }
                try Task.checkCancellation()
                // If the link itself still exists, it is of no further use.
                try? await connection?.disconnect()
                connection = nil
                let pause = pauses.next()
                say("\(why); trying again in \(pause) s")
                try await Task.sleep(for: pause.duration)
                try await adapter.waitUntilReady()
            }
        }
    }

    /// The description of an error that a new connection may resolve; nil for other errors.
    private static func reconnectable(_ error: any Error) -> String? {
        switch error {
        case let failure as CommandFailure where failure.status == .notFound || failure.status == .linkLost:
            failure.message
        case let error as BluetoothError:
            switch error.kind {
            case .pairingFailed(.disconnected), .pairingFailed(.timedOut), .pairingFailed(.encryptionFailed),
                .disconnected, .connectionFailed, .timedOut, .peerNotResponding, .adapterRemoved, .servicesChanged,
                .notReady, .alreadyConnected, .answerLost:
                "\(error)"
            default: nil
            }
        default: nil
        }
    }

    private typealias Subscription = (attribute: SelectedAttribute, values: EventSequence<[UInt8]>)

    private func subscribe(on connection: Connection, _ attempts: Attempts) async throws -> [Subscription] {
        try await pairing.protect(connection)
        var subscriptions: [Subscription] = []
        for attribute in try await connection.attributes(selectors, attempts) {
            guard let characteristic = attribute.characteristic else {
                throw CommandFailure(.usage, "\(attribute.label) is not a characteristic, and sends no values")
            }
            do throws(BluetoothError) {
                let values = try await attempts.answer(of: connection) { () throws(BluetoothError) in
                    try await connection.notifications(of: characteristic)
                }
                subscriptions.append((attribute, values))
            } catch {
                switch error.code {
                case .att, .notSupported:
                    throw CommandFailure(
                        ExitStatus(error), "\(attribute.label): \(error)" + pairing.advice(about: error))
                default: throw error
                }
            }
        }
        say("subscribed to \(subscriptions.map(\.attribute.label).joined(separator: ", ")) of \(connection.address)")
        return subscriptions
    }

    /// Prints the values of one link until the limit is reached.
    private func show(
        _ subscriptions: [Subscription], on connection: Connection, _ printer: ValuePrinter
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (attribute, values) in subscriptions {
                group.addTask { try await Self.show(values, of: attribute, on: connection, printer) }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
        // The sequences no longer exist, so this ends the subscriptions before the link.
        try? await connection.disconnect()
    }

    private static func show(
        _ values: EventSequence<[UInt8]>, of attribute: SelectedAttribute, on connection: Connection,
        _ printer: ValuePrinter
    ) async throws {
        var iterator = values.makeAsyncIterator()
        while true {
            let octets: [UInt8]?
            do throws(BluetoothError) {
                guard let value = try await iterator.next() else { return }
                octets = value
            } catch {
                guard error == .dataLost else { throw error }
                octets = nil
            }
            guard try printer.show(ValueRecord(attribute, of: connection.address, octets)) else { return }
        }
    }
}

/// Whether there has ever been a subscription.
private final class NotifyProgress: Sendable {
    private let state = Atomic(false)

    var hasSubscribed: Bool { state.load(ordering: .relaxed) }

    func subscribed() { state.store(true, ordering: .relaxed) }
}

/// The delay before each attempt to reconnect. It starts at 1 s and doubles each time, up to 30 s.
struct ReconnectPauses {
    private var seconds: Int64 = 1

    mutating func next() -> Seconds {
        defer { seconds = min(2 * seconds, 30) }
        return Seconds(seconds)
    }

    /// Resets the delay, after a link that worked.
    mutating func reset() { seconds = 1 }
}
