import ArgumentParser
import BluetoothLE
import BluetoothCommandLine

/// `ble write`: writes values of a device.
struct Write: AsyncParsableCommand, CommandWithoutOutput {
    static let configuration = CommandConfiguration(
        abstract: "Writes values of a device.",
        discussion: HelpText.discussion(
            """
            A UUID must match exactly one characteristic. If it matches several, give SERVICE/UUID or a handle. Values \
            are written in the order of the arguments, up to the first that is refused. Exits with status 3 if the \
            device was not connected in time or lacks a characteristic, and with status 4 if it refused a value.
            """,
            examples: [
                "ble write C0:11:22:33:44:55 2A06 01", "ble write Lamp --format utf8 2A00 Kitchen",
                "# Several values, and negative numbers after --:",
                "ble write Robot --format i16 -- FF01 -100 FF02 250,250",
            ]))

    @OptionGroup var device: DeviceOptions

    @Argument(
        help: ArgumentHelp(
            "The attributes to write, each followed by its value: a UUID, SERVICE/UUID, or a handle such as 0x0010.",
            valueName: "uuid value"))
    var arguments: [String]

    @Option(help: "The format of the values. Separate several numbers with commas.")
    var format: ValueFormat = .hex

    @Flag(help: "Write without response: the device does not confirm that it accepted the value.")
    var withoutResponse = false

    @Flag(help: "Write without response, signed with the bond's key if the link is not encrypted.")
    var signed = false

    @OptionGroup var transport: TransportOptions
    @OptionGroup var pairing: PairingOptions

    func validate() throws {
        if withoutResponse && signed {
            throw ValidationError("--signed already writes without response; leave out --without-response")
        }
        _ = try assignments
    }

    private var assignments: [(selector: AttributeSelector, octets: [UInt8])] {
        get throws {
            guard arguments.count.isMultiple(of: 2) else {
                throw ValidationError("each uuid needs a value after it; put values with spaces in quotation marks")
            }
            return try stride(from: 0, to: arguments.count, by: 2).map { index in
                guard let selector = AttributeSelector(argument: arguments[index]) else {
                    throw ValidationError("\(quoted(arguments[index])): \(AttributeSelector.expectation)")
                }
                return (selector, try format.encode(arguments[index + 1]))
            }
        }
    }

    func run() async throws {
        let assignments = try assignments
        // Kept across attempts: values that have been written are not written again.
        var progress = WriteProgress()
        do {
            try await device.withConnection(transport, pairing) { connection, attempts in
                progress.linkEnded()
                let steps = try await steps(assignments, on: connection, attempts)
                try await progress.settle(steps, on: connection, attempts)
                for (attribute, octets) in steps.dropFirst(progress.doneCount) {
                    try await write(octets, to: attribute, on: connection, attempts, &progress)
                }
                try await confirm(on: connection, attempts, &progress)
            }
        } catch {
            progress.linkEnded()
            // The thrown error ends the program, so this one is only reported.
            if let failure = progress.failure?.message { say("ble: \(failure)") }
            throw error
        }
        if let failure = progress.failure { throw failure }
    }

    /// Sends the device a request, if it has not answered since the last value was sent.
    private func confirm(
        on connection: Connection, _ attempts: Attempts, _ progress: inout WriteProgress
    ) async throws {
        guard progress.needsConfirmation else { return }
        do throws(BluetoothError) {
            _ = try await attempts.answer(of: connection) { () throws(BluetoothError) in
                try await connection.discoverServices("1800")
            }
            progress.confirm()
        } catch {
            switch error.code {
            // A refusal is an answer.
            case .att: progress.confirm()
            case .cancelled: throw error
            // On another link, an answer would confirm nothing.
            default:
                say("\(error)")
                progress.linkEnded()
            }
        }
    }

    /// The attributes, each with its value.
    private func steps(
        _ assignments: [(selector: AttributeSelector, octets: [UInt8])], on connection: Connection, _ attempts: Attempts
    ) async throws -> [WriteProgress.Step] {
        let database = try await attempts.answer(of: connection) { () throws(BluetoothError) in
            try await connection.discoverAll()
        }
        return try assignments.map { selector, octets in
            let attributes = selector.attributes(in: database)
            guard let attribute = attributes.first else {
                throw CommandFailure(.notFound, "\(connection.address) has no \(selector)")
            }
            guard attributes.count == 1 else {
                let handles = attributes.map { "\($0.handle)" }.joined(separator: ", ")
                throw CommandFailure(
                    .usage, "\(connection.address) has several \(selector) attributes, at \(handles); give the handle")
            }
            return (attribute, octets)
        }
    }

    private func write(
        _ octets: [UInt8], to attribute: SelectedAttribute, on connection: Connection, _ attempts: Attempts,
        _ progress: inout WriteProgress
    ) async throws {
        do throws(BluetoothError) {
            if try await isAnswered(octets, to: attribute, on: connection, attempts, &progress) {
                progress.finish(attribute, octets)
            } else {
                progress.sent(attribute, octets)
            }
        } catch {
            guard error.code == .att else { throw error }
            progress.confirm()
            throw CommandFailure(ExitStatus(error), "\(attribute.label): \(error)" + pairing.advice(about: error))
        }
    }

    /// Writes a value, with a response if the characteristic supports that and the options do not exclude it. Returns
    /// whether the device has responded.
    private func isAnswered(
        _ octets: [UInt8], to attribute: SelectedAttribute, on connection: Connection, _ attempts: Attempts,
        _ progress: inout WriteProgress
    ) async throws(BluetoothError) -> Bool {
        if let characteristic = attribute.characteristic {
            if signed {
                try await connection.writeSigned(octets, to: characteristic)
                return false
            }
            let properties = characteristic.properties
            if withoutResponse || (!properties.contains(.write) && properties.contains(.writeWithoutResponse)) {
                try await connection.writeWithoutResponse(octets, to: characteristic)
                return false
            }
        } else if withoutResponse || signed {
            throw .notSupported(.descriptorCommands)
        }
        progress.isOutcomeUnknown = true
        do throws(BluetoothError) {
            try await attempts.answer(of: connection) { () throws(BluetoothError) in
                try await connection.write(octets, to: attribute.handle)
            }
        } catch {
            // A refusal is an answer. The other errors mean that nothing was sent.
            switch error.code {
            case .att, .notReady, .valueTooLong, .notSupported: progress.isOutcomeUnknown = false
            default: break
            }
            throw error
        }
        progress.isOutcomeUnknown = false
        return true
    }
}
