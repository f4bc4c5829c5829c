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
        var structures = self.structures
        while let structure = structures.next() {
            if structure.type == type, !structure.data.isEmpty { return structure.data }
        }
        return nil
    }

    /// Returns whether a complete or incomplete list of service UUIDs contains `uuid`.
    @inlinable
    public func contains(serviceUUID uuid: BluetoothUUID) -> Bool {
        var structures = self.structures
        while let structure = structures.next() {
            let length = structure.type.serviceUUIDLength
            if length > 0, contains(uuid, in: structure.data, length: length) { return true }
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
