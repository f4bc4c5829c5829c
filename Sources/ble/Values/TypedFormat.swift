import BluetoothBase
import BluetoothLE
import BluetoothCommandLine
import BluetoothValues

/// A field of a value with a known layout.
struct ValueField: Equatable, Sendable {
    enum Content: Equatable, Sendable {
        case integer(Int64)
        case number(Double)
        case numbers([Double])
        case text(String)
        case flag(Bool)
    }

    /// The member's name in JSON.
    var name: String
    var content: Content
    /// The unit to show to users. It may be empty.
    var unit: String

    init(_ name: String, _ content: Content, _ unit: String = "") {
        self.name = name
        self.content = content
        self.unit = unit
    }

    init(_ name: String, _ integer: some BinaryInteger, _ unit: String = "") {
        self.init(name, .integer(Int64(clamping: integer)), unit)
    }
}

/// A layout, with its name on the command line, such as `heart-rate`.
struct TypedFormat: Sendable {
    let name: String
    let uuid: BluetoothUUID
    /// Decodes the octets of a value.
    let fields: @Sendable (_ value: [UInt8]) throws(DecodingFailure) -> [ValueField]
    /// Encodes text that a user typed. It returns nil for an invalid value. Nil for layouts that can only be shown.
    let octets: (@Sendable (_ text: String) -> [UInt8]?)?

    /// - Parameter parse: parses text that a user typed; nil for values that can only be shown.
    private init<Value: CharacteristicValue>(
        _ name: String, parse: (@Sendable (_ text: String) -> Value?)?,
        fields: @escaping @Sendable (_ value: Value) -> [ValueField]
    ) {
        self.name = name
        uuid = Value.uuid
        self.fields = { octets throws(DecodingFailure) in fields(try Value(decoding: octets)) }
        octets =
            if let parse {
                { text in parse(text)?.encoded }
            } else {
                nil
            }
    }

    private init<Value: CharacteristicValue>(
        _ name: String, fields: @escaping @Sendable (_ value: Value) -> [ValueField]
    ) {
        self.init(name, parse: nil, fields: fields)
    }

    /// A characteristic whose value is text.
    private init<Value: TextCharacteristicValue>(_ name: String, text type: Value.Type) {
        let parse: @Sendable (String) -> Value? = { Value($0) }
        self.init(name, parse: parse) { (value: Value) in [ValueField("text", .text(value.text))] }
    }

    /// The layouts that this program knows, by name.
    static let all: [TypedFormat] = [
        batteryLevel, bodySensorLocation, cscFeature, cscMeasurement, currentTime,
        TypedFormat("firmware-revision", text: FirmwareRevisionString.self),
        TypedFormat("hardware-revision", text: HardwareRevisionString.self), heartRate,
        TypedFormat("manufacturer-name", text: ManufacturerNameString.self),
        TypedFormat("model-number", text: ModelNumberString.self), pnpID,
        TypedFormat("serial-number", text: SerialNumberString.self),
        TypedFormat("software-revision", text: SoftwareRevisionString.self), systemID, temperature,
        temperatureMeasurement, temperatureType, weight,
    ]

    private static let batteryLevel = TypedFormat(
        "battery-level",
        parse: { text in UInt8(text).flatMap { $0 <= 100 ? BatteryLevel(percentage: $0) : nil } },
        fields: { (value: BatteryLevel) in [ValueField("percentage", value.percentage, "%")] })

    private static let bodySensorLocation = TypedFormat(
        "body-sensor-location", parse: { text in UInt8(text).map { BodySensorLocation(rawValue: $0) } },
        fields: { (value: BodySensorLocation) in [ValueField("location", .text(value.description))] })

    private static let cscFeature = TypedFormat("csc-feature") { (value: CSCFeature) in
        [
            ValueField("wheelRevolutionData", .flag(value.contains(.wheelRevolutionData))),
            ValueField("crankRevolutionData", .flag(value.contains(.crankRevolutionData))),
            ValueField("multipleSensorLocations", .flag(value.contains(.multipleSensorLocations))),
        ]
    }

    private static let cscMeasurement = TypedFormat("csc-measurement") { (value: CSCMeasurement) in
        var fields: [ValueField] = []
        if let wheel = value.wheel {
            fields.append(ValueField("wheelRevolutions", wheel.cumulativeRevolutions))
            fields.append(ValueField("wheelEventTime", seconds(wheel.lastEventTime), "s"))
        }
        if let crank = value.crank {
            fields.append(ValueField("crankRevolutions", crank.cumulativeRevolutions))
            fields.append(ValueField("crankEventTime", seconds(crank.lastEventTime), "s"))
        }
        return fields
    }

    private static let currentTime = TypedFormat("current-time") { (value: CurrentTime) in
        [ValueField("time", .text(text(value.dateTime))), ValueField("dayOfWeek", .text("\(value.dayOfWeek)"))]
    }

    private static let heartRate = TypedFormat("heart-rate") { (value: HeartRateMeasurement) in
        var fields = [ValueField("heartRate", value.heartRate, "beats/min")]
        if value.sensorContact != .notSupported {
            fields.append(ValueField("sensorContact", .flag(value.sensorContact == .detected)))
        }
        if let energy = value.energyExpended { fields.append(ValueField("energyExpended", energy, "kJ")) }
        if !value.rrIntervals.isEmpty {
            let intervals = value.rrIntervals.map { rounded($0 / .seconds(1), 1000) }
            fields.append(ValueField("rrIntervals", .numbers(intervals), "s"))
        }
        return fields
    }

    private static let pnpID = TypedFormat("pnp-id") { (value: PnPID) in
        [
            ValueField("vendorIDSource", value.vendorIDSource.rawValue), ValueField("vendorID", value.vendorID),
            ValueField("productID", value.productID), ValueField("productVersion", value.productVersion),
        ]
    }

    private static let systemID = TypedFormat("system-id") { (value: SystemID) in
        [
            ValueField("manufacturer", .text(hexadecimal(value.manufacturerIdentifier, digits: 10))),
            ValueField("organization", .text(hexadecimal(value.organizationallyUniqueIdentifier, digits: 6))),
        ]
    }

    private static let temperature = TypedFormat(
        "temperature",
        parse: { text in
            Double(text).flatMap { (-273.15...327.67).contains($0) ? Temperature(celsius: $0) : nil }
        },
        fields: { (value: Temperature) in
            value.celsius.map { [ValueField("celsius", .number(rounded($0, 100)), "°C")] } ?? []
        })

    private static let temperatureMeasurement = TypedFormat("temperature-measurement") {
        (value: TemperatureMeasurement) in
        var fields = [ValueField("celsius", .number(rounded(value.celsius, 1000)), "°C")]
        if let time = value.timeStamp { fields.append(ValueField("timeStamp", .text(text(time)))) }
        if let type = value.type { fields.append(ValueField("type", type.rawValue)) }
        return fields
    }

    private static let temperatureType = TypedFormat(
        "temperature-type", parse: { text in UInt8(text).map { TemperatureType(rawValue: $0) } },
        fields: { (value: TemperatureType) in [ValueField("type", value.rawValue)] })

    private static let weight = TypedFormat("weight") { (value: WeightMeasurement) in
        var fields: [ValueField] = []
        if let kilograms = value.kilograms {
            fields.append(ValueField("kilograms", .number(rounded(kilograms, 1000)), "kg"))
        }
        if let time = value.timeStamp { fields.append(ValueField("timeStamp", .text(text(time)))) }
        if let user = value.userID { fields.append(ValueField("userID", user)) }
        if let body = value.body {
            fields.append(ValueField("massIndex", .number(rounded(body.massIndex, 10))))
        }
        return fields
    }

    private static let byUUID = Dictionary(uniqueKeysWithValues: all.map { ($0.uuid, $0) })

    /// The layout of a characteristic's values; nil if it is not known.
    static func of(_ uuid: BluetoothUUID) -> TypedFormat? { byUUID[uuid] }

    // MARK: Numbers and times

    /// A time of CSC measurements, in 1/1024 s.
    private static func seconds(_ ticks: UInt16) -> ValueField.Content { .number(rounded(Double(ticks) / 1024, 1000)) }

    private static func rounded(_ number: Double, _ parts: Double) -> Double { (number * parts).rounded() / parts }

    /// In the format of ISO 8601, with question marks for parts that the device does not know. There is no time zone.
    private static func text(_ time: DateTime) -> String {
        func digits(_ number: (some BinaryInteger)?, _ count: Int) -> String {
            guard let number else { return String(repeating: "?", count: count) }
            let text = "\(number)"
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return "\(digits(time.year, 4))-\(digits(time.month, 2))-\(digits(time.day, 2))T"
            + "\(digits(time.hours, 2)):\(digits(time.minutes, 2)):\(digits(time.seconds, 2))"
    }
}

extension ValueField {
    /// The text to show to users.
    var text: String {
        let content =
            switch content {
            case .integer(let number): "\(number)"
            case .number(let number): "\(number)"
            case .numbers(let numbers): numbers.map { "\($0)" }.joined(separator: " ")
            case .text(let text): quoted(text)
            case .flag(let flag): flag ? "yes" : "no"
            }
        return unit.isEmpty ? content : "\(content) \(unit)"
    }

    func add(to object: inout JSONObject) {
        switch content {
        case .integer(let number): object.add(name, number)
        case .number(let number): object.add(name, number)
        case .numbers(let numbers): object.add(name, numbers)
        case .text(let text): object.add(name, text)
        case .flag(let flag): object.add(name, explicit: flag)
        }
    }
}
