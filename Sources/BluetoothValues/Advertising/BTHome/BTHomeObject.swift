import BluetoothBase

/// A measurement or an event of a BTHome device.
public struct BTHomeObject: Equatable, Sendable {
    let property: BTHomeProperty
    /// The octets after the object identifier or, for kinds of variable length, after the length. Their number depends
    /// on the kind of object.
    public let data: [UInt8]

    init(_ property: BTHomeProperty, _ data: [UInt8]) {
        self.property = property
        self.data = data
    }

    /// BTHome's object identifier, which states the kind of object.
    public var identifier: UInt8 { property.identifier }

    /// Creates an object for a named value. Among the kinds with that name, this uses the first one that represents the
    /// value exactly.
    ///
    /// Returns nil if no kind has that name, or if none can represent the value: a number is too large or has too many
    /// decimal places, or the value has another type. Events are given by name, for example `press`, followed by their
    /// arguments, for example `rotate_left 3` or `toggle 0A`. Raw data is given as hexadecimal digits, and versions as
    /// `4.2.1`.
    public init?(_ name: String, _ value: AdvertisedField.Value) {
        for property in BTHomeProperty.all where property.name == name {
            if let data = property.layout.encode(value) {
                self.init(property, data)
                return
            }
        }
        return nil
    }

    /// Creates an object from text typed by a person: a number, a flag such as `true` or `off`, or other text.
    public init?(_ name: String, text: String) {
        let flags = ["true": true, "false": false, "on": true, "off": false, "1": true, "0": false]
        var values: [AdvertisedField.Value] = []
        if let number = FixedPointNumber(text) { values.append(.number(number)) }
        if let flag = flags[text] { values.append(.flag(flag)) }
        values.append(.text(text))
        for value in values {
            if let object = BTHomeObject(name, value) {
                self = object
                return
            }
        }
        return nil
    }

    /// The names of all kinds of objects.
    public static var names: [String] {
        var seen: Set<String> = []
        return BTHomeProperty.all.map(\.name).filter { seen.insert($0).inserted }
    }

    /// The name, value and unit of the object.
    public var field: AdvertisedField {
        AdvertisedField(property.name, property.layout.decode(data), unit: property.unit)
    }

    /// Returns whether two objects have the same identifier and the same data.
    public static func == (first: Self, second: Self) -> Bool {
        first.identifier == second.identifier && first.data == second.data
    }
}

extension BTHomeProperty.Layout {
    /// Decodes the value from the correct number of octets.
    fileprivate func decode(_ data: [UInt8]) -> AdvertisedField.Value {
        switch self {
        case .unsigned(_, let places, let step):
            return .number(FixedPointNumber(Int64(data.littleEndian) * step, places: places))
        case .signed(let octets, let places, let step):
            let shift = 64 - 8 * octets
            let number = Int64(bitPattern: data.littleEndian << UInt64(shift)) >> Int64(shift)
            return .number(FixedPointNumber(number * step, places: places))
        case .flag: return .flag(data.first != 0)
        case .event(let names): return .text(Self.event(data, names))
        case .dimmer:
            let event = Self.event(Array(data.prefix(1)), BTHomeProperty.dimmerEvents)
            return .text(data[1] == 0 ? event : "\(event) \(data[1])")
        case .command:
            let event = Self.event(Array(data.prefix(1)), BTHomeProperty.commands)
            return .text(data.count < 2 ? event : "\(event) \(Array(data.dropFirst()).hexadecimal(separator: ""))")
        case .text: return .text(String(decoding: data, as: UTF8.self))
        case .raw: return .text(data.hexadecimal(separator: ""))
        case .version: return .text(data.reversed().map(String.init).joined(separator: "."))
        }
    }

    private static func event(_ data: [UInt8], _ names: [UInt8: String]) -> String {
        let code = data.first ?? 0
        return names[code] ?? "event 0x\(hexadecimal(code))"
    }

    /// Encodes a value. Returns nil if this layout can't represent it.
    fileprivate func encode(_ value: AdvertisedField.Value) -> [UInt8]? {
        switch (self, value) {
        case (.unsigned(let octets, let places, let step), .number(let number)):
            guard let units = number.units(places: places, step: step), units >= 0, units >> Int64(8 * octets) == 0
            else {
                return nil
            }
            return Self.octets(units, octets)
        case (.signed(let octets, let places, let step), .number(let number)):
            let limit = Int64(1) << Int64(8 * octets - 1)
            guard let units = number.units(places: places, step: step), (-limit..<limit).contains(units) else {
                return nil
            }
            return Self.octets(units, octets)
        case (.flag, .flag(let flag)): return [flag ? 1 : 0]
        case (.event(let names), .text(let text)): return Self.code(of: text, names).map { [$0] }
        case (.dimmer, .text(let text)):
            let words = text.split(separator: " ")
            guard let event = words.first, words.count <= 2,
                let code = Self.code(of: String(event), BTHomeProperty.dimmerEvents),
                let steps = words.count == 2 ? UInt8(words[1]) : 0
            else { return nil }
            return [code, steps]
        case (.command, .text(let text)):
            let words = text.split(separator: " ")
            guard let event = words.first, words.count <= 2,
                let code = Self.code(of: String(event), BTHomeProperty.commands),
                let arguments = words.count == 2 ? [UInt8](hexadecimal: String(words[1])) : [], arguments.count < 32
            else { return nil }
            return [code] + arguments
        case (.text, .text(let text)): return text.utf8.count <= 255 ? Array(text.utf8) : nil
        case (.raw, .text(let text)): return [UInt8](hexadecimal: text).flatMap { $0.count <= 255 ? $0 : nil }
        case (.version(let octets), .text(let text)):
            let numbers = text.split(separator: ".", omittingEmptySubsequences: false).compactMap { UInt8($0) }
            return numbers.count == octets ? numbers.reversed() : nil
        default: return nil
        }
    }

    private static func code(of event: String, _ names: [UInt8: String]) -> UInt8? {
        names.first { $0.value == event }?.key
    }

    private static func octets(_ number: Int64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> Int64(8 * $0)) }
    }
}

extension FixedPointNumber {
    /// Returns the number as a multiple of `step` at `places` decimal places, or nil if it is not a whole multiple.
    fileprivate func units(places: Int, step: Int64) -> Int64? {
        var digits = digits
        for _ in places..<max(places, self.places) {
            guard digits.isMultiple(of: 10) else { return nil }
            digits /= 10
        }
        for _ in self.places..<max(places, self.places) {
            let (product, overflow) = digits.multipliedReportingOverflow(by: 10)
            guard !overflow else { return nil }
            digits = product
        }
        return digits.isMultiple(of: step) ? digits / step : nil
    }
}

extension [UInt8] {
    /// Up to eight octets as a little-endian number.
    fileprivate var littleEndian: UInt64 { prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) } }
}
