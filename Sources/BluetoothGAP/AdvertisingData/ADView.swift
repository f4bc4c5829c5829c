import BluetoothBase

/// Reads individual fields of advertising data in place, without a copy. It is fast enough to process every advertising
/// report.
///
/// If the data contains a field several times, the first one is used, as in `AdvertisementData`.
public struct ADView: ~Escapable {
    /// The advertising data or scan response data that the view reads.
    public let bytes: Span<UInt8>

    /// Creates a view that borrows the advertising data and does not validate it.
    @inlinable
    @_lifetime(copy bytes)
    public init(_ bytes: Span<UInt8>) {
        self.bytes = bytes
    }

    /// All AD structures of the data.
    @inlinable
    public var structures: ADStructures {
        @_lifetime(copy self)
        get { ADStructures(bytes) }
    }

    /// Returns the data of the first non-empty AD structure of a type.
    @inlinable
    @_lifetime(copy self)
    public func first(_ type: ADType) -> Span<UInt8>? {
        var offset = 0
        while let found = header(at: offset) {
            // A structure without data has a length of 1.
            if found.type == type, found.end &- offset > 2 { return bytes.extracting((offset &+ 2)..<found.end) }
            offset = found.end
        }
        return nil
    }

    /// The type and the end of the structure at an offset; nil if the data ends there. Unlike `ADStructures`, this
    /// skips a structure without touching its data.
    @inlinable @inline(__always)
    func header(at offset: Int) -> (type: ADType, end: Int)? {
        guard offset &+ 1 < bytes.count else { return nil }
        let length = Int(bytes[unchecked: offset])
        let end = offset &+ 1 &+ length
        guard length > 0, end <= bytes.count else { return nil }
        return (ADType(rawValue: bytes[unchecked: offset &+ 1]), end)
    }

    /// Returns whether a complete or incomplete list of service UUIDs contains `uuid`.
    @inlinable
    public func contains(serviceUUID uuid: BluetoothUUID) -> Bool {
        // Most lists have UUIDs of 16 bits, which are compared as they are.
        let short = uuid.shortValue
        var offset = 0
        while let found = header(at: offset) {
            switch found.type.serviceUUIDLength {
            case 0: break
            case 2:
                guard let short else { break }
                var position = offset &+ 2
                while position &+ 2 <= found.end {
                    if UInt32(bytes[position]) | UInt32(bytes[position &+ 1]) << 8 == short { return true }
                    position &+= 2
                }
            case let length:
                if contains(uuid, in: bytes.extracting((offset &+ 2)..<found.end), length: length) { return true }
            }
            offset = found.end
        }
        return false
    }

    @inlinable
    func contains(_ uuid: BluetoothUUID, in list: Span<UInt8>, length: Int) -> Bool {
        var reader = ByteReader(list)
        while let element = try? reader.readUUID(length: length) {
            if element == uuid { return true }
        }
        return false
    }

    /// The octets of the complete local name if the data contains one, otherwise those of the shortened local name.
    /// They are UTF-8 if the device follows the specification.
    @inlinable
    public var localName: Span<UInt8>? {
        @_lifetime(copy self)
        get {
            if let name = first(.completeLocalName) { return name }
            return first(.shortenedLocalName)
        }
    }

    /// The transmit power in dBm.
    @inlinable
    public var txPowerLevel: Int8? {
        guard let data = first(.txPowerLevel) else { return nil }
        return Int8(bitPattern: data[0])
    }

    /// The flags, which describe the device's discoverability.
    @inlinable
    public var flags: AdvertisingFlags? {
        guard let data = first(.flags) else { return nil }
        return AdvertisingFlags(rawValue: data[0])
    }

    /// Returns the data of a manufacturer, without its company identifier.
    @inlinable
    @_lifetime(copy self)
    public func manufacturerData(companyID: UInt16) -> Span<UInt8>? {
        var structures = self.structures
        while let structure = structures.next() {
            guard structure.type == .manufacturerSpecificData else { continue }
            var reader = ByteReader(structure.data)
            if (try? reader.readUInt16()) == companyID { return reader.readRemaining() }
        }
        return nil
    }

    /// Returns the data of a service, without its UUID.
    @inlinable
    @_lifetime(copy self)
    public func serviceData(_ uuid: BluetoothUUID) -> Span<UInt8>? {
        var structures = self.structures
        while let structure = structures.next() {
            let length = structure.type.serviceDataUUIDLength
            guard length > 0 else { continue }
            var reader = ByteReader(structure.data)
            if (try? reader.readUUID(length: length)) == uuid { return reader.readRemaining() }
        }
        return nil
    }
}
