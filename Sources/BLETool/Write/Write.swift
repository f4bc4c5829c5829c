import ArgumentParser
import BluetoothLE
import BluetoothCommandLine

/// `ble write`: writes values of a device.
struct Write: AsyncParsableCommand, CommandWithoutOutput {
    static let configuration = CommandConfiguration(
        abstract: "Writes values of a device.",
        discussion: HelpText.discussion(
            """
            A UUID must stand for one characteristic; where the device has several, give SERVICE/UUID or a handle. Values are \
            written in the order of the arguments, and the first that is refused is the last. Exits with status 3 if the \
            device was not connected in time or lacks one of the characteristics, and with 4 if it refused a value.
            """,
            examples: [
                "ble write C0:11:22:33:44:55 2A06 01", "ble write Lamp --format utf8 2A00 Kitchen",
                "# Several, and negative numbers, which are no options:",
                "ble write Robot --format i16 -- FF01 -100 FF02 250,250",
            ]))

    @OptionGroup var device: DeviceOptions

    @Argument(
        help: ArgumentHelp(
            "What to write, each followed by its value: a UUID, SERVICE/UUID, or a handle such as 0x0010.",
            valueName: "uuid value"))
    var arguments: [String]

    @Option(help: "How values are given: hexadecimal by default; of numbers several, separated by commas.")
    var format: ValueFormat = .hex

    @Flag(help: "Write without response: the device does not say whether it took the value.")
    var withoutResponse = false

    @Flag(help: "Write without response, signed with the key of the bond where the link is not encrypted.")
    var signed = false

    @OptionGroup var transport: TransportOptions
    @OptionGroup var pairing: PairingOptions

    func validate() throws {
        if withoutResponse && signed {
            throw ValidationError("--signed is a way of writing without response; leave out --without-response")
        }
        _ = try assignments
    }

    private var assignments: [(selector: AttributeSelector, octets: [UInt8])] {
        get throws {
            guard arguments.count.isMultiple(of: 2) else {
                throw ValidationError("each uuid needs a value behind it; in quotation marks if the value has spaces")
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
        try await device.withConnection(transport, pairing) { _, connection in
            let database = try await connection.discoverAll()
            var steps: [(attribute: SelectedAttribute, octets: [UInt8])] = []
            for (selector, octets) in assignments {
                let attributes = selector.attributes(in: database)
                guard let attribute = attributes.first else {
                    throw CommandFailure(.notFound, "\(connection.peer) has no \(selector)")
                }
                guard attributes.count == 1 else {
                    let handles = attributes.map { "\($0.handle)" }.joined(separator: ", ")
                    throw CommandFailure(
                        .usage, "\(connection.peer) has several \(selector), at \(handles); give the handle")
                }
                steps.append((attribute, octets))
            }
            var isAnswered = true
            for (attribute, octets) in steps {
                do throws(BluetoothError) {
                    isAnswered = try await write(octets, to: attribute, on: connection)
                } catch {
                    throw CommandFailure(
                        ExitStatus(error), "\(attribute.label): \(error)" + pairing.advice(about: error))
                }
                say("\(attribute.label): written, \(octets.count) octet\(octets.count == 1 ? "" : "s")")
            }
            // The device answers in the order of what it was sent: then it has what it does not answer.
            if !isAnswered { _ = try? await connection.discoverServices("1800") }
        }
    }

    /// Writes a value, with a response where the characteristic has that and nobody asked for the other. Returns whether the
    /// device has answered.
    private func write(
        _ octets: [UInt8], to attribute: SelectedAttribute, on connection: Connection
    ) async throws(BluetoothError) -> Bool {
        guard let characteristic = attribute.characteristic else {
            guard !withoutResponse, !signed else { throw .notSupported("descriptors are written with a response only") }
            try await connection.write(octets, to: attribute.handle)
            return true
        }
        if signed {
            try await connection.writeSigned(octets, to: characteristic)
            return false
        }
        let properties = characteristic.properties
        if withoutResponse || (!properties.contains(.write) && properties.contains(.writeWithoutResponse)) {
            try await connection.writeWithoutResponse(octets, to: characteristic)
            return false
        }
        try await connection.write(octets, to: characteristic)
        return true
    }
}
