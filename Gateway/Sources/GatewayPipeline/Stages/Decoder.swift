import BluetoothBase
import BluetoothCrypto
import BluetoothGAP
import BluetoothValues

/// The contents of an advertisement in a known format.
public struct Reading: Equatable, Sendable {
    /// The format's name: `bthome`, `ruuvitag-5`.
    public var format: String
    /// Measurements and states.
    public var state: [AdvertisedField] = []
    /// Events, such as button presses.
    public var events: [AdvertisedField] = []
    /// The number of the packet, counted by the device, which distinguishes it from the next one. Nil if there is none.
    public var packet: FixedPointNumber?
    /// Whether the device sends only when something happens, so that silence means nothing.
    public var isTriggerBased = false
    /// The counter of the message if the data was encrypted; otherwise nil.
    public var encryptionCounter: UInt32?
}

extension Reading {
    /// Whether the reading only identifies a beacon.
    var isBeacon: Bool {
        events.isEmpty && !state.isEmpty && state.allSatisfy { Decoder.identityFields.contains($0.name) }
    }

    /// Distinguishes a reading from the next one in the same format.
    enum Mark: Equatable, Sendable {
        case number(FixedPointNumber)
        /// Without a number, a repeated event differs from a new one only in its values.
        case values(state: [AdvertisedField], events: [AdvertisedField])
    }

    /// Nil if the reading has neither a number nor events, because processing such a reading twice changes nothing.
    var mark: Mark? {
        if let packet { return .number(packet) }
        return events.isEmpty ? nil : .values(state: state, events: events)
    }
}

/// The second stage: decodes octets into values.
public struct Decoder: Sendable {
    /// The reason why an advertisement has no reading.
    public enum Failure: Error, Equatable, Sendable {
        /// The advertisement contains no known format.
        case unknown
        /// The data is encrypted, and the key for the device is missing or wrong; or the device has a key, and the data
        /// is not encrypted with it.
        case noKey
    }

    /// Keyed by the 48 bits of the address, because sensors do not state the address type.
    private let keys: [UInt64: [UInt8]]

    /// Fields that count packets rather than measure anything.
    static let counters: Set<String> = ["packet_id", "sequence_number", "advertisements", "uptime"]
    /// Fields that identify a beacon rather than measure anything.
    static let identityFields: Set<String> = [
        "uuid", "major", "minor", "measured_power", "namespace", "instance", "tx_power_at_0_m", "url", "identifier",
        "metadata",
    ]
    /// Whether a field reports an event. If there are several fields with one name, all but the first end in a number.
    private static func isEvent(_ name: String) -> Bool {
        ["button", "command", "dimmer"].contains(where: name.hasPrefix)
    }

    /// - Parameter keys: the keys of encrypted BTHome devices, 16 octets each.
    public init(keys: [DeviceAddress: [UInt8]] = [:]) {
        self.keys = Dictionary(keys.map { ($0.key.value, $0.value) }) { first, _ in first }
    }

    /// Decodes the first value in a known format. Sensors come before beacons, because some devices send both.
    public func decode(_ data: AdvertisementData, from address: DeviceAddress) throws(Failure) -> Reading {
        for element in data.serviceData {
            if let value = AdvertisedFormats.value(of: element.data, in: .serviceData(element.uuid)) {
                return try reading(value, address)
            }
        }
        for element in data.manufacturerData {
            if let value = AdvertisedFormats.value(of: element.data, in: .manufacturerData(element.companyID)) {
                return try reading(value, address)
            }
        }
        throw .unknown
    }

    private func reading(_ value: any AdvertisedValue, _ address: DeviceAddress) throws(Failure) -> Reading {
        guard let encrypted = value as? EncryptedBTHome else {
            // Anyone can send plain data with the address of a device that encrypts its data.
            guard keys[address.value] == nil else { throw .noKey }
            return Self.reading(value)
        }
        guard let key = keys[address.value],
            let clear = encrypted.decrypted(key: key, address: address, with: AESCCM())
        else { throw .noKey }
        var reading = Self.reading(clear)
        reading.encryptionCounter = encrypted.counter
        // The counter identifies the packet, whatever it contains, because it cannot be forged.
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
                // A device with several buttons also sends those that were not pressed.
                if field.value != .text("none") { reading.events.append(field) }
            } else {
                reading.state.append(field)
            }
        }
        return reading
    }
}
