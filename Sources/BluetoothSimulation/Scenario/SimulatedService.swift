import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// The service that every device of a scenario offers, with one characteristic for each way of using a value.
enum SimulatedService {
    /// The characteristics, in order.
    enum Characteristic: Int, CaseIterable, Sendable {
        /// Sent as notifications and indications.
        case stream
        /// Stored by the database.
        case stored
        /// Written without response.
        case commands
        /// Readable and writable on encrypted links only, which exist only in worlds with security.
        case locked
        /// Read from and written to the application.
        case dynamic
        /// Longer than one PDU.
        case constant
        case writeOnly
        /// Notified in chunks, ended by `EOM`.
        case card
    }

    static let uuid: BluetoothUUID = "E07F0AE8-00BB-47F5-94F4-4A7174EA3032"
    /// A service that is published and withdrawn.
    static let passing: BluetoothUUID = "E07F0AE8-00BB-47F5-94F4-4A7174EA3099"
    private static let characteristics: [BluetoothUUID] = (0..<Characteristic.allCases.count).map {
        BluetoothUUID(0xA000 + UInt16($0))
    }

    static func uuid(of characteristic: Characteristic) -> BluetoothUUID { characteristics[characteristic.rawValue] }

    static func definition(of station: Int) -> GATTServiceDefinition {
        GATTServiceDefinition(
            uuid: uuid, characteristics: Characteristic.allCases.map { definition(of: $0, station) })
    }

    private static func definition(
        of characteristic: Characteristic, _ station: Int
    ) -> GATTCharacteristicDefinition {
        let uuid = uuid(of: characteristic)
        let value = initialValue(of: characteristic, station)
        switch characteristic {
        case .stream:
            return .init(uuid: uuid, properties: [.notify, .indicate], value: .dynamic)
        case .stored:
            return .init(
                uuid: uuid, properties: [.read, .write],
                value: .variableLength(value, maximum: 512))
        case .commands:
            return .init(
                uuid: uuid, properties: [.write, .writeWithoutResponse],
                value: .variableLength(value, maximum: 512))
        case .locked:
            return .init(
                uuid: uuid, properties: [.read, .write, .writeWithoutResponse, .notify],
                permissions: GATTPermissions(read: .encrypted, write: .encrypted), subscription: .encrypted,
                value: .variableLength(value, maximum: 512))
        case .dynamic: return .init(uuid: uuid, properties: [.read, .write], value: .dynamic)
        case .constant:
            return .init(uuid: uuid, properties: [.read], value: .constant(value))
        case .writeOnly:
            return .init(
                uuid: uuid, properties: [.write], value: .variableLength(value, maximum: 512))
        case .card: return .init(uuid: uuid, properties: [.notify], value: .dynamic)
        }
    }

    /// The value of a characteristic before any client writes it.
    static func initialValue(of characteristic: Characteristic, _ station: Int) -> [UInt8] {
        let count =
            switch characteristic {
            case .stored: 40
            case .locked: 20
            case .constant: 300
            default: SimulatedValue.leastCount
            }
        return SimulatedValue(characteristic, station: station, stream: 0, number: 0).bytes(count: count)
    }

    /// A service with one subscription, which clients write directly.
    static let configurable: BluetoothUUID = "E07F0AE8-00BB-47F5-94F4-4A7174EA30C0"

    static var configurableDefinition: GATTServiceDefinition {
        GATTServiceDefinition(
            uuid: configurable,
            characteristics: [.init(uuid: "A0C0", properties: [.notify, .indicate], value: .dynamic)])
    }

    static var passingDefinition: GATTServiceDefinition {
        GATTServiceDefinition(
            uuid: passing,
            characteristics: [.init(uuid: "2A19", properties: [.read, .notify], value: .constant([42]))])
    }
}

/// A value that states its origin and its position among the values from there.
struct SimulatedValue: Equatable, Sendable {
    var characteristic: SimulatedService.Characteristic
    /// The station that created the value.
    var station: Int
    /// The stream that the value belongs to. Its number is unique in the world.
    var stream: UInt32
    /// Its number in the stream, from 1.
    var number: UInt32

    init(_ characteristic: SimulatedService.Characteristic, station: Int, stream: UInt32, number: UInt32) {
        self.characteristic = characteristic
        self.station = station
        self.stream = stream
        self.number = number
    }

    static let leastCount = 10

    /// The identity of a value. It is unique among the values sent to peers in one world.
    struct Place: Equatable, Sendable {
        let stream: UInt32
        let number: UInt32

        init(_ value: SimulatedValue) { (stream, number) = (value.stream, value.number) }

        /// The identity of the value at the beginning of `bytes`; nil if they do not begin with a value.
        init?(_ bytes: Span<UInt8>) {
            guard let value = SimulatedValue(bytes.extracting(first: SimulatedValue.leastCount)) else { return nil }
            self.init(value)
        }
    }

    /// The octets of the value, padded with a pattern. The last octet states the length.
    func bytes(count: Int) -> [UInt8] {
        var bytes: [UInt8] = [0xA0 | UInt8(characteristic.rawValue), UInt8(station)]
        bytes.reserveCapacity(count)
        for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: stream >> shift)) }
        for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        while bytes.count < count { bytes.append(filling(bytes.count)) }
        if count > Self.leastCount { bytes[count - 1] = UInt8(truncatingIfNeeded: count) }
        return bytes
    }

    private func filling(_ position: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: number &* 31 &+ UInt32(truncatingIfNeeded: position))
    }

    /// Whether the octets of a value are complete at the end.
    static func isWhole(_ bytes: Span<UInt8>) -> Bool {
        bytes.count <= leastCount || bytes[bytes.count - 1] == UInt8(truncatingIfNeeded: bytes.count)
    }

    /// Decodes a value; nil if the octets are neither a simulated value nor the beginning of one.
    init?(_ bytes: Span<UInt8>) {
        guard bytes.count >= Self.leastCount, bytes[0] & 0xF0 == 0xA0,
            let characteristic = SimulatedService.Characteristic(rawValue: Int(bytes[0] & 0x0F))
        else { return nil }
        self.characteristic = characteristic
        station = Int(bytes[1])
        stream = 0
        number = 0
        for index in 0..<4 {
            stream |= UInt32(bytes[2 + index]) << (8 * index)
            number |= UInt32(bytes[6 + index]) << (8 * index)
        }
        let isMarked = bytes.count > Self.leastCount && Self.isWhole(bytes)
        for index in Self.leastCount..<bytes.count - (isMarked ? 1 : 0) where bytes[index] != filling(index) {
            return nil
        }
    }
}

/// The message of the card characteristic. Its length and octets follow from its number, so a part is never mistaken
/// for the whole.
enum SimulatedCard {
    static func bytes(_ number: UInt32, count: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: UInt64(number))
        var bytes = [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
        bytes += [UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8)]
        while bytes.count < max(4, count) { bytes.append(UInt8(truncatingIfNeeded: generator.next())) }
        // The end-of-message marker may also be the last part of a message.
        if number.isMultiple(of: 2), count >= 8 {
            bytes.replaceSubrange(bytes.count - 3..<bytes.count, with: "EOM".utf8)
        }
        return bytes
    }

    /// The beginning of a card that only empty parts follow.
    static let dribble = [UInt8](repeating: 0xDD, count: 15)

    static func isWhole(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 4, bytes != dribble else { return bytes == dribble }
        let number = UInt32(bytes[0]) | UInt32(bytes[1]) << 8
        return bytes == Self.bytes(number, count: Int(bytes[2]) | Int(bytes[3]) << 8)
    }
}
