import FuzzDriver

@testable import DBus

/// A bus for all inputs of this process.
private nonisolated(unsafe) let bus = try? DetachedBus()

/// Puts values into a message and into a signal buffer, and reads them as a receiver would.
func carry(_ signature: String, _ append: (any ValueWriter) throws(BusFailure) -> Void) throws -> [DBusValue] {
    guard let bus else { throw Violation(description: "there is no bus") }
    let values = try bus.carry(append).get()
    let signalled = try bus.carrySignal(signature, append).get()
    try require(values == signalled, "\(values) arrived in a signal as \(signalled)")
    return values
}

/// Values of any type, with text of any octets.
func fuzzValues(_ script: inout Script) throws {
    while !script.isEmpty {
        let value = script.value(depth: 4)
        let received = try carry(value.signature) { message throws(BusFailure) in try message.append(value) }
        try require(received == [value.repaired], "\(value) was received as \(received)")
    }
}

extension Script {
    /// A value, with containers up to this depth.
    mutating func value(depth: Int) -> DBusValue {
        switch choice(of: depth > 0 ? 17 : 12) {
        case 0: .byte(byte())
        case 1: .boolean(byte() & 1 == 1)
        case 2: .int16(Int16(truncatingIfNeeded: number))
        case 3: .uint16(UInt16(truncatingIfNeeded: number))
        case 4: .int32(Int32(truncatingIfNeeded: number))
        case 5: .uint32(UInt32(truncatingIfNeeded: number))
        case 6: .int64(Int64(bitPattern: number))
        case 7: .uint64(number)
        // Not a number differs from itself.
        case 8: .double(Double(number))
        case 9: .bytes(chunk())
        case 10: .string(String(decoding: chunk(), as: UTF8.self))
        case 11: .objectPath(ObjectPath(String(decoding: chunk(), as: UTF8.self)) ?? .root)
        case 12: .strings((0..<choice(of: 4)).map { _ in String(decoding: chunk(), as: UTF8.self) })
        case 13: .variant(value(depth: depth - 1))
        case 14: .structure((0...choice(of: 3)).map { _ in value(depth: depth - 1) })
        case 15:
            .variants(
                (0..<choice(of: 4)).map { _ in (String(decoding: chunk(), as: UTF8.self), value(depth: depth - 1)) })
        default:
            .dictionary(
                key: "q", value: "v",
                (0..<choice(of: 4)).map { _ in
                    .init(.uint16(UInt16(byte())), .variant(value(depth: depth - 1)))
                })
        }
    }

    private var number: UInt64 {
        mutating get { chunk().prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }
    }
}

extension DBusValue {
    /// The value as a receiver reads it: without text that D-Bus does not allow.
    var repaired: DBusValue {
        switch self {
        case .string(let text): .string(BusText.valid(text))
        case .variant(let value): .variant(value.repaired)
        case .structure(let members): .structure(members.map(\.repaired))
        case .array(let element, let elements): .array(of: element, elements.map(\.repaired))
        case .dictionary(let key, let value, let entries):
            .dictionary(key: key, value: value, entries.map { .init($0.key.repaired, $0.value.repaired) })
        default: self
        }
    }
}
