import BluetoothBase

/// A measurement or an event of a BTHome device.
public struct BTHomeObject: Equatable, Sendable {
    let property: BTHomeProperty
    /// The octets behind the object identifier and, for text and raw data, behind the length: as many as the kind of
    /// object has.
    public let data: [UInt8]

    init(_ property: BTHomeProperty, _ data: [UInt8]) {
        self.property = property
        self.data = data
    }

    /// What kind of object it is: BTHome's object identifier.
    public var identifier: UInt8 { property.identifier }

    /// The object that says this: of the kinds with that name, the first that holds the value exactly.
    ///
    /// Nil if no kind has that name, or none holds the value: a number is too large or has too many places, or the
    /// value is of another type. Events are given by their names, such as `press`, with what belongs to them, such as `rotate_left 3` and
    /// `toggle 0A`; raw data by its hexadecimal digits,
    /// versions as `4.2.1`.
    public init?(_ name: String, _ value: AdvertisedField.Value) {
        for property in BTHomeProperty.all where property.name == name {
            if let data = property.layout.encode(value) {
                self.init(property, data)
                return
            }
        }
        return nil
    }

    /// The object that says what a person has typed: a number, `true` or `false`, or text.
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

    /// The names that kinds of objects have.
    public static var names: [String] {
        var seen: Set<String> = []
        return BTHomeProperty.all.map(\.name).filter { seen.insert($0).inserted }
    }

    /// What it says.
    public var field: AdvertisedField {
        AdvertisedField(property.name, property.layout.decode(data), unit: property.unit)
    }

    public static func == (first: Self, second: Self) -> Bool {
        first.identifier == second.identifier && first.data == second.data
    }
}

extension BTHomeProperty.Layout {
    /// What octets of the right number say.
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

    /// The octets that say it; nil if there are none.
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
    /// How often `step` at this many places is contained; nil unless that is a whole number.
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
    /// Up to eight octets as a number.
    fileprivate var littleEndian: UInt64 { prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) } }
}
