import ArgumentParser
import BluetoothLE
import BluetoothCommandLine
import BluetoothNumbers
import FoundationEssentials
import Synchronization

/// The options for printing values.
struct ValueOutputOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "The format of the values. By default, values of known characteristics are shown as fields, other values "
                + "as text if printable, otherwise in hexadecimal. If a value holds several numbers, all are shown."))
    var format: ValueFormat?

    @Flag(help: "Print comma-separated values, with a heading.")
    var csv = false

    @Flag(help: "Print a JSON object for each value.")
    var json = false

    @Flag(help: "Print the time before each value.")
    var timestamps = false

    func validate() throws {
        if csv && json { throw ValidationError("--csv and --json exclude each other; choose one") }
    }
}

/// A value of a device, with the time at which it was received.
struct ValueRecord: Sendable {
    var time: Date
    var address: DeviceAddress
    var attribute: SelectedAttribute
    /// Nil if values were lost.
    var octets: [UInt8]?

    init(time: Date = .now, _ attribute: SelectedAttribute, of address: DeviceAddress, _ octets: [UInt8]?) {
        self.time = time
        self.address = address
        self.attribute = attribute
        self.octets = octets
    }

    /// In UTC, with milliseconds.
    fileprivate var timestamp: String {
        time.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true)) + "Z"
    }
}

/// Formats values as lines.
struct ValueLines: Sendable {
    let options: ValueOutputOptions
    /// Whether each line names its characteristic.
    let isLabelled: Bool

    /// The first line, in a format that has one.
    var heading: String? { options.csv ? "time,address,handle,characteristic,value,decoded" : nil }

    private static let loss = "values were lost here"

    func decoded(_ record: ValueRecord) -> DecodedValue? {
        record.octets.map { options.format?.decode($0) ?? ValueFormat.automatic($0, of: record.attribute.uuid) }
    }

    func line(for record: ValueRecord) -> String {
        options.json ? json(record) : options.csv ? csv(record) : plain(record)
    }

    private func plain(_ record: ValueRecord) -> String {
        var parts = options.timestamps ? [record.timestamp] : []
        if isLabelled { parts.append(record.attribute.label) }
        parts.append(decoded(record).map(text) ?? "(\(Self.loss))")
        return parts.joined(separator: "  ")
    }

    private func text(_ value: DecodedValue) -> String {
        switch value {
        case .octets(let octets): octets.isEmpty ? "(empty)" : octets.hexadecimal()
        case .text(let text): options.format == nil ? quoted(text) : String(quoted(text).dropFirst().dropLast())
        case .integers(let integers): integers.map { "\($0)" }.joined(separator: " ")
        case .numbers(let numbers): numbers.map { "\($0)" }.joined(separator: " ")
        case .fields(let fields):
            // The first field needs no name, because it is the subject of the characteristic.
            fields.enumerated().map { $0 == 0 ? $1.text : "\($1.name) \($1.text)" }.joined(separator: ", ")
        case .malformed(let octets, let why): "\(octets.hexadecimal()) (\(why))"
        }
    }

    private func csv(_ record: ValueRecord) -> String {
        let decoded = decoded(record).map { value in
            if case .octets(let octets) = value { octets.hexadecimal(separator: "") } else { text(value) }
        }
        let fields = [
            record.timestamp, "\(record.address)", "\(record.attribute.handle)",
            record.attribute.uuid.map { "\($0)" } ?? "",
            record.octets?.hexadecimal(separator: "") ?? "", decoded ?? Self.loss,
        ]
        return fields.map(Self.csvField).joined(separator: ",")
    }

    /// Adds quotation marks where they are required (RFC 4180, 2).
    private static func csvField(_ text: String) -> String {
        guard text.contains(where: { $0 == "," || $0 == "\"" }) else { return text }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }

    private func json(_ record: ValueRecord) -> String {
        var object = JSONObject()
        object.add("time", record.timestamp)
        object.add("address", "\(record.address)")
        object.add("handle", record.attribute.handle.rawValue)
        object.add("characteristic", record.attribute.uuid.map { "\($0)" })
        object.add("name", record.attribute.uuid.flatMap { AssignedNumbers.name(ofCharacteristic: $0) })
        object.add("value", record.octets?.hexadecimal(separator: ""))
        switch decoded(record) {
        case nil: object.add("dataLost", true)
        case .octets: break
        case .text(let text): object.add("text", text)
        case .integers(let integers): object.add("numbers", integers)
        case .numbers(let numbers): object.add("numbers", numbers)
        case .fields(let fields):
            object.add("fields", fields) { object, fields in fields.forEach { $0.add(to: &object) } }
        case .malformed(_, let why): object.add("malformed", why)
        }
        return object.text
    }
}

/// Prints values as they arrive, from any task, up to a limit.
final class ValuePrinter: Sendable {
    private struct State {
        var hasHeading = false
        var left: Int?
        var hasMalformed = false
    }

    private let lines: ValueLines
    private let state: Mutex<State>

    /// - Parameter count: the maximum number of values; nil for no limit.
    init(_ lines: ValueLines, count: Int? = nil) {
        self.lines = lines
        state = Mutex(State(left: count))
    }

    /// Whether the limit is reached.
    var isDone: Bool { state.withLock { $0.left == 0 } }

    /// Whether a value did not have the requested format.
    var hasMalformed: Bool { state.withLock { $0.hasMalformed } }

    /// Prints a value. Returns false if the limit is reached.
    @discardableResult
    func show(_ record: ValueRecord) throws(CommandFailure) -> Bool {
        let line = lines.line(for: record)
        let isMalformed = if case .malformed = lines.decoded(record) { true } else { false }
        return try state.withLock { state throws(CommandFailure) in
            guard state.left != 0 else { return false }
            if !state.hasHeading, let heading = lines.heading { try writeLine(heading) }
            state.hasHeading = true
            // Written under the lock, so that lines are not mixed.
            try writeLine(line)
            if isMalformed { state.hasMalformed = true }
            if record.octets != nil { state.left = state.left.map { $0 - 1 } }
            return state.left != 0
        }
    }
}
