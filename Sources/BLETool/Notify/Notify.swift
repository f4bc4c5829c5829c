import ArgumentParser
import BluetoothLE
import BluetoothCommandLine

/// `ble notify`: prints the values that a device sends.
struct Notify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Subscribes to values of a device, and prints each that it sends.",
        discussion: HelpText.discussion(
            """
            Runs until it is ended by a signal, such as that of Ctrl-C, or by --count or --time. Where values were lost on \
            the link, a line says so in their place. Exits with status 3 if the device was not connected in time, lacks a \
            characteristic or does not send it, and with 4 if the link was lost, unless --reconnect is given.
            """,
            examples: [
                "ble notify C0:11:22:33:44:55 2A37",
                "ble notify Sensor 2A6E 2A6F --csv --time 3600 --reconnect > log.csv",
                "ble notify Sensor 2A37 --json | jq .fields.heartRate",
            ]))

    @OptionGroup var device: DeviceOptions

    @Argument(
        help: ArgumentHelp("What to subscribe to: UUIDs, SERVICE/UUID, or handles such as 0x0010.", valueName: "uuid"))
    var selectors: [AttributeSelector]

    @OptionGroup var output: ValueOutputOptions

    @Option(help: "End after so many values, of all characteristics together.")
    var count: PositiveCount?

    @Option(help: ArgumentHelp("End after this time, from the first connection on.", valueName: "seconds"))
    var time: Seconds?

    @Flag(help: "When the link or the adapter is lost, connect again, for as long as it takes.")
    var reconnect = false

    @OptionGroup var transport: TransportOptions
    @OptionGroup var pairing: PairingOptions

    func run() async throws {
        let lines = ValueLines(options: output, isLabelled: selectors.count > 1)
        let printer = ValuePrinter(lines, count: count?.value)
        try await transport.withAdapter(isRecovering: reconnect, pairing: pairing, timeout: device.timeout) { adapter in
            let connection = try await device.connect(adapter)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    if reconnect {
                        try await receive(from: connection, on: adapter, printer)
                    } else {
                        try await receive(from: connection, printer)
                    }
                }
                if let time { group.addTask { try await Task.sleep(for: time.duration) } }
                defer { group.cancelAll() }
                // Whatever ends first ends all.
                try await group.next()
            }
        }
    }

    // MARK: Links

    /// Prints values until there have been enough, on one link after the other.
    private func receive(from first: Connection, on adapter: Adapter, _ printer: ValuePrinter) async throws {
        var connection: Connection? = first
        var pauses = ReconnectPauses()
        while true {
            do {
                if connection == nil { connection = try await device.connect(adapter) }
                if let connection { try await receive(from: connection, printer) { pauses.reset() } }
                return
            } catch {
                guard let why = Self.reconnectable(error) else { throw error }
                try Task.checkCancellation()
                // Where it is not the link that has ended, it is of no use any more.
                try? await connection?.disconnect()
                connection = nil
                let pause = pauses.next()
                say("\(why); trying again in \(pause) s")
                try await Task.sleep(for: pause.duration)
                try await adapter.waitUntilReady()
            }
        }
    }

    /// What to say about an error that another connection may get over; nil for others.
    private static func reconnectable(_ error: any Error) -> String? {
        switch error {
        case let failure as CommandFailure where failure.status == .notFound || failure.status == .linkLost:
            failure.message
        case let error as BluetoothError:
            switch error {
            case .disconnected, .connectionFailed, .timedOut, .peerNotResponding, .adapterRemoved, .servicesChanged,
                .notReady, .alreadyConnected:
                "\(error)"
            default: nil
            }
        default: nil
        }
    }

    /// Prints the values of one link until there have been enough.
    private func receive(
        from connection: Connection, _ printer: ValuePrinter, onSubscribed: () -> Void = {}
    ) async throws {
        try await pairing.protect(connection)
        var subscriptions: [(attribute: SelectedAttribute, values: EventSequence<[UInt8]>)] = []
        for attribute in try await connection.attributes(selectors) {
            guard let characteristic = attribute.characteristic else {
                throw CommandFailure(.usage, "\(attribute.label) is no characteristic, and sends nothing")
            }
            do throws(BluetoothError) {
                subscriptions.append((attribute, try await connection.notifications(of: characteristic)))
            } catch {
                if Self.reconnectable(error) != nil { throw error }
                throw CommandFailure(ExitStatus(error), "\(attribute.label): \(error)" + pairing.advice(about: error))
            }
        }
        say("subscribed to \(subscriptions.map(\.attribute.label).joined(separator: ", ")) of \(connection.peer)")
        onSubscribed()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (attribute, values) in subscriptions {
                group.addTask { try await Self.show(values, of: attribute, on: connection, printer) }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
        // The sequences are gone: this ends the subscriptions before the link.
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
            guard try printer.show(ValueRecord(attribute, of: connection.peer, octets)) else { return }
        }
    }
}

/// How long to wait before each attempt to connect again: from 1 s, twice as long each time, to 30 s.
struct ReconnectPauses {
    private var seconds: Int64 = 1

    mutating func next() -> Seconds {
        defer { seconds = min(2 * seconds, 30) }
        return Seconds(seconds)
    }

    /// After a link that was of use.
    mutating func reset() { seconds = 1 }
}
