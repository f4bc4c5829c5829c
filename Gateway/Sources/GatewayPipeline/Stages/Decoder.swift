import BluetoothBase
import BluetoothCrypto
import BluetoothGAP
import BluetoothValues

/// What an advertisement says in one of the formats that are known.
public struct Reading: Equatable, Sendable {
    /// The format's name: `bthome`, `ruuvitag-5`.
    public var format: String
    /// What is measured, or is the state of something.
    public var state: [AdvertisedField] = []
    /// What happened: buttons and the like.
    public var events: [AdvertisedField] = []
    /// What tells this packet of the device from its next one: a number that the device counts. Nil if it has none.
    public var packet: FixedPointNumber?
    /// Whether the device sends only when something happens: its silence says nothing.
    public var isTriggerBased = false
    /// Whether the data was encrypted, and the number of the message if so.
    public var encryptionCounter: UInt32?
}

/// The second stage: bytes to values.
public struct Decoder: Sendable {
    /// Why an advertisement has no reading.
    public enum Failure: Error, Equatable, Sendable {
        /// No known format is in it.
        case unknown
        /// It is encrypted, and there is no key for the device, or the key does not fit.
        case noKey
    }

    /// By the 48 bits of the address: sensors say nothing of its kind.
    private let keys: [UInt64: [UInt8]]

    /// Fields that count packets rather than measure anything.
    static let counters: Set<String> = ["packet_id", "sequence_number", "advertisements", "uptime"]
    /// Whether a field tells of something that happened; of several with one name, the others have a number behind it.
    private static func isEvent(_ name: String) -> Bool {
        ["button", "command", "dimmer"].contains(where: name.hasPrefix)
    }

    /// - Parameter keys: the keys of encrypted BTHome devices, of 16 octets each.
    public init(keys: [DeviceAddress: [UInt8]] = [:]) {
        self.keys = Dictionary(keys.map { ($0.key.value, $0.value) }) { first, _ in first }
    }

    /// Reads the first value in a known format. Sensors come before beacons, since some devices send both.
    public func decode(_ data: AdvertisementData, from address: DeviceAddress) throws(Failure) -> Reading {
        for element in data.serviceData {
            if let value = AdvertisedFormats.value(in: .serviceData(element.uuid), element.data) {
                return try reading(value, address)
            }
        }
        for element in data.manufacturerData {
            if let value = AdvertisedFormats.value(in: .manufacturerData(element.companyID), element.data) {
                return try reading(value, address)
            }
        }
        throw .unknown
    }

    private func reading(_ value: any AdvertisedValue, _ address: DeviceAddress) throws(Failure) -> Reading {
        guard let encrypted = value as? EncryptedBTHome else { return Self.reading(value) }
        guard let key = keys[address.value],
            let clear = encrypted.decrypted(key: key, address: address, with: AESCCM())
        else { throw .noKey }
        var reading = Self.reading(clear)
        reading.encryptionCounter = encrypted.counter
        // Whatever is inside, the counter is what cannot be forged.
        reading.packet = FixedPointNumber(Int64(encrypted.counter))
        return reading
    }

    private static func reading(_ value: any AdvertisedValue) -> Reading {
        var reading = Reading(format: type(of: value).formatName)
        reading.isTriggerBased = (value as? BTHome)?.isTriggerBased ?? false
        for field in value.fields {
            if counters.contains(field.name) {
                if reading.packet == nil, case .number(let number) = field.value { reading.packet = number }
            } else if isEvent(field.name) {
                // A device with several buttons sends those that nobody pressed, too.
                if field.value != .text("none") { reading.events.append(field) }
            } else {
                reading.state.append(field)
            }
        }
        return reading
    }
}
