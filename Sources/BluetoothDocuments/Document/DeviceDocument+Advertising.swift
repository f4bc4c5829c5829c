import BluetoothBase
import BluetoothGAP

// Decoding and encoding of advertising data.

extension DeviceDocument.Advertising {
    /// The maximum length of the data in octets (Core 5.4, Vol 6, Part B, 2.3.1).
    static let maximumLength = AdvertisingPayload.Limits.legacy.advertisingData

    init(_ reader: DocumentReader) throws(DocumentError) {
        let object = try reader.object([
            "data", "flags", "name", "shortName", "services", "hasMoreServices", "solicitedServices", "serviceData",
            "manufacturerData", "txPower", "appearance", "structures",
        ])
        if let data = object["data"] {
            for other in object.members where other.name != "data" {
                throw DocumentError(object.place(of: other.name), .contradicts(other: "data"))
            }
            self = .octets(try data.octets(maximum: Self.maximumLength))
            return
        }
        var fields = AdvertisementData()
        if let flags = object["flags"] {
            fields.flags = AdvertisingFlags(
                rawValue: UInt8(try flags.integer(0...0xFF, expected: "flags from 0 to 255")))
        }
        fields.localName = try object["name"].map { name throws(DocumentError) in .complete(try name.string()) }
        if let short = object["shortName"] {
            guard fields.localName == nil else { throw short.failure(.contradicts(other: "name")) }
            fields.localName = .shortened(try short.string())
        }
        fields.serviceUUIDs = try object.list("services") { uuid throws(DocumentError) in try uuid.uuid() }
        if let flag = object["hasMoreServices"] { fields.isServiceListIncomplete = try flag.flag() }
        fields.solicitedServiceUUIDs = try object.list("solicitedServices") { uuid throws(DocumentError) in
            try uuid.uuid()
        }
        fields.serviceData = try object.list("serviceData") { element throws(DocumentError) in
            let object = try element.object(["uuid", "data"])
            return .init(
                uuid: try object.required("uuid", expected: "the UUID of the service").uuid(),
                data: try object.data("data"))
        }
        fields.manufacturerData = try object.list("manufacturerData") { element throws(DocumentError) in
            let object = try element.object(["company", "data"])
            let company = try object.required("company", expected: "a company identifier")
                .integer(0...0xFFFF, expected: "a company identifier such as \"0x004C\"")
            return .init(companyID: UInt16(company), data: try object.data("data"))
        }
        if let power = object["txPower"] {
            fields.txPowerLevel = Int8(try power.integer(-127...127, expected: "a power from -127 to 127 dBm"))
        }
        if let appearance = object["appearance"] {
            fields.appearance = .init(
                rawValue: UInt16(try appearance.integer(0...0xFFFF, expected: "an appearance such as \"0x0340\"")))
        }
        fields.other = try object.list("structures") { element throws(DocumentError) in
            let object = try element.object(["type", "data"])
            let type = try object.required("type", expected: "the type of an AD structure")
                .integer(0...0xFF, expected: "the type of an AD structure such as \"0x1B\"")
            return .init(type: ADType(rawValue: UInt8(type)), data: try object.data("data"))
        }
        self = .fields(fields)
        _ = try octets(at: reader.path)
    }

    /// Returns the encoded advertising data.
    ///
    /// - Parameter path: the location in the document, for the error.
    /// - Throws: if the data does not fit into one packet.
    public func octets(at path: String) throws(DocumentError) -> [UInt8] {
        switch self {
        case .octets(let octets): return octets
        case .fields(let fields):
            let limits = AdvertisingPayload.Limits(advertisingData: Self.maximumLength, scanResponseData: 0)
            do throws(AdvertisingPayloadError) {
                return try AdvertisingPayload(fields, limits: limits).advertisingData
            } catch {
                throw DocumentError(path, .advertisementTooLong(excess: error.excess))
            }
        }
    }

    var json: JSONValue {
        var object = JSONMembers()
        switch self {
        case .octets(let octets): object.add("data", octets.hexadecimal())
        case .fields(let fields):
            object.add("flags", fields.flags.map { .string("0x" + hexadecimal($0.rawValue)) })
            switch fields.localName {
            case .complete(let name): object.add("name", name)
            case .shortened(let name): object.add("shortName", name)
            case nil: break
            }
            object.add("services", fields.serviceUUIDs.map { .string("\($0)") })
            if fields.isServiceListIncomplete { object.add("hasMoreServices", .bool(true)) }
            object.add("solicitedServices", fields.solicitedServiceUUIDs.map { .string("\($0)") })
            object.add("serviceData", fields.serviceData.map { Self.json("uuid", "\($0.uuid)", $0.data) })
            object.add(
                "manufacturerData",
                fields.manufacturerData.map {
                    Self.json("company", "0x" + hexadecimal($0.companyID, digits: 4), $0.data)
                })
            object.add("txPower", fields.txPowerLevel.map { .integer(Int64($0)) })
            object.add("appearance", fields.appearance.map { .string("0x" + hexadecimal($0.rawValue, digits: 4)) })
            object.add(
                "structures", fields.other.map { Self.json("type", "0x" + hexadecimal($0.type.rawValue), $0.data) })
        }
        return object.value
    }

    private static func json(_ name: String, _ value: String, _ data: [UInt8]) -> JSONValue {
        var object = JSONMembers()
        object.add(name, value)
        object.add("data", data.hexadecimal())
        return object.value
    }
}

extension ObjectReader {
    fileprivate func data(_ name: String) throws(DocumentError) -> [UInt8] {
        try required(name, expected: "octets in hexadecimal")
            .octets(maximum: DeviceDocument.Advertising.maximumLength)
    }
}
