import BluetoothATT
import BluetoothBase

/// The stored form of a cache: a version, four counts, and the entries of each list in handle order. Integers are
/// little-endian. Each entry ends with an octet of flags and its UUID of 2 or 16 octets.
extension AttributeCache {
    private static let version: UInt8 = 1

    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let isLong = Flags(rawValue: 0x01)
        static let isPrimary = Flags(rawValue: 0x02)
        static let knowsCharacteristics = Flags(rawValue: 0x04)
        static let knowsIncludes = Flags(rawValue: 0x08)
        static let knowsDescriptors = Flags(rawValue: 0x10)
        static let all = Flags(rawValue: 0x1F)
    }

    /// The number of octets that `encode` appends.
    var encodedLength: Int {
        func length(_ uuid: BluetoothUUID) -> Int { 1 + uuid.attLength }
        return 9 + database.services.reduce(0) { $0 + 4 + length($1.uuid) }
            + database.includes.reduce(0) { $0 + 6 + length($1.uuid) }
            + database.characteristics.reduce(0) { $0 + 7 + length($1.uuid) }
            + database.descriptors.reduce(0) { $0 + 2 + length($1.uuid) }
    }

    /// Appends the cache in its stored form.
    public func encode(into writer: inout ByteWriter) {
        func append(_ flags: Flags, _ uuid: BluetoothUUID) {
            writer.append(flags.union(uuid.attLength == 2 ? [] : .isLong).rawValue)
            writer.append(uuid)
        }
        writer.append(Self.version)
        for count in [
            database.services.count, database.includes.count, database.characteristics.count,
            database.descriptors.count,
        ] { writer.append(UInt16(truncatingIfNeeded: count)) }
        for service in database.services {
            writer.append(service.startHandle)
            writer.append(service.endHandle)
            var flags: Flags = service.isPrimary ? .isPrimary : []
            if withCharacteristics.contains(service.startHandle) { flags.insert(.knowsCharacteristics) }
            if withIncludes.contains(service.startHandle) { flags.insert(.knowsIncludes) }
            append(flags, service.uuid)
        }
        for include in database.includes {
            writer.append(include.declarationHandle)
            writer.append(include.startHandle)
            writer.append(include.endHandle)
            append([], include.uuid)
        }
        for characteristic in database.characteristics {
            writer.append(characteristic.declarationHandle)
            writer.append(characteristic.valueHandle)
            writer.append(characteristic.endHandle)
            writer.append(characteristic.properties.rawValue)
            append(withDescriptors.contains(characteristic.valueHandle) ? .knowsDescriptors : [], characteristic.uuid)
        }
        for descriptor in database.descriptors {
            writer.append(descriptor.handle)
            append([], descriptor.uuid)
        }
    }

    /// Decodes a stored cache.
    ///
    /// - Throws: `DecodingFailure` if the cache is too long, has another version, or contains entries that no discovery
    ///   could have returned.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        guard bytes.count <= Self.maximumLength else {
            throw DecodingFailure(.trailingBytes(count: bytes.count - Self.maximumLength), at: Self.maximumLength)
        }
        var reader = ByteReader(bytes)
        guard try reader.readUInt8() == Self.version else { throw DecodingFailure(.invalidValue, at: 0) }
        let services = try reader.readUInt16(), includes = try reader.readUInt16()
        let characteristics = try reader.readUInt16(), descriptors = try reader.readUInt16()
        // Every entry takes octets, so a wrong count cannot make these lists longer than the stored bytes.
        for _ in 0..<services { try readService(&reader) }
        for _ in 0..<includes { try readInclude(&reader) }
        for _ in 0..<characteristics { try readCharacteristic(&reader) }
        for _ in 0..<descriptors { try readDescriptor(&reader) }
        try reader.finish()
        knowsServices = true
    }

    private mutating func readService(_ reader: inout ByteReader) throws(DecodingFailure) {
        let start = try reader.readHandle(after: database.services.last?.endHandle)
        let end = try reader.readHandle(from: start)
        let (flags, uuid) = try Self.readFlags(&reader)
        if flags.contains(.knowsCharacteristics) { withCharacteristics.insert(start) }
        if flags.contains(.knowsIncludes) { withIncludes.insert(start) }
        database.services.append(
            DiscoveredService(
                uuid: uuid, startHandle: start, endHandle: end, isPrimary: flags.contains(.isPrimary)))
    }

    private mutating func readInclude(_ reader: inout ByteReader) throws(DecodingFailure) {
        let declaration = try reader.readHandle(after: database.includes.last?.declarationHandle)
        let start = try reader.readHandle(after: nil), end = try reader.readHandle(from: start)
        let (_, uuid) = try Self.readFlags(&reader)
        database.includes.append(
            DiscoveredInclude(declarationHandle: declaration, startHandle: start, endHandle: end, uuid: uuid))
    }

    private mutating func readCharacteristic(_ reader: inout ByteReader) throws(DecodingFailure) {
        let declaration = try reader.readHandle(after: database.characteristics.last?.endHandle)
        let value = try reader.readHandle(after: declaration), end = try reader.readHandle(from: value)
        let properties = GATTCharacteristicProperties(rawValue: try reader.readUInt8())
        let (flags, uuid) = try Self.readFlags(&reader)
        if flags.contains(.knowsDescriptors) { withDescriptors.insert(value) }
        database.characteristics.append(
            DiscoveredCharacteristic(
                uuid: uuid, declarationHandle: declaration, valueHandle: value, endHandle: end,
                properties: properties))
    }

    private mutating func readDescriptor(_ reader: inout ByteReader) throws(DecodingFailure) {
        let handle = try reader.readHandle(after: database.descriptors.last?.handle)
        let (_, uuid) = try Self.readFlags(&reader)
        database.descriptors.append(DiscoveredDescriptor(uuid: uuid, handle: handle))
    }

    private static func readFlags(
        _ reader: inout ByteReader
    ) throws(DecodingFailure) -> (Flags, BluetoothUUID) {
        let offset = reader.offset
        let flags = Flags(rawValue: try reader.readUInt8())
        guard Flags.all.isSuperset(of: flags) else { throw DecodingFailure(.invalidValue, at: offset) }
        return (flags, try reader.readUUID(length: flags.contains(.isLong) ? 16 : 2))
    }
}

extension ByteReader {
    /// Reads a handle that must be greater than `last`, and never zero.
    @_lifetime(self: copy self)
    fileprivate mutating func readHandle(
        after last: AttributeHandle?
    ) throws(DecodingFailure) -> AttributeHandle {
        let offset = self.offset
        let handle = AttributeHandle(try readUInt16())
        guard handle.rawValue > last?.rawValue ?? 0 else { throw DecodingFailure(.invalidValue, at: offset) }
        return handle
    }

    /// Reads a handle that must not be less than `first`.
    @_lifetime(self: copy self)
    fileprivate mutating func readHandle(
        from first: AttributeHandle
    ) throws(DecodingFailure) -> AttributeHandle {
        let offset = self.offset
        let handle = AttributeHandle(try readUInt16())
        guard handle >= first else { throw DecodingFailure(.invalidValue, at: offset) }
        return handle
    }
}
