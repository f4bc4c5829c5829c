import BluetoothBase

/// Reads single fields of advertising data in place, without a copy: for the path of every advertising report.
///
/// If the data contains a field several times, the first one counts, as in `AdvertisementData`.
public struct ADView: ~Escapable {
    public let bytes: Span<UInt8>

    @inlinable
    @_lifetime(copy bytes)
    public init(_ bytes: Span<UInt8>) {
        self.bytes = bytes
    }

    /// All the AD structures.
    @inlinable
    public var structures: ADStructures {
        @_lifetime(copy self)
        get { ADStructures(bytes) }
    }

    /// The data of the first AD structure of a type that is not empty.
    @inlinable
    @_lifetime(copy self)
    public func first(_ type: ADType) -> Span<UInt8>? {
        var structures = self.structures
        while let structure = structures.next() {
            if structure.type == type, !structure.data.isEmpty { return structure.data }
        }
        return nil
    }

    /// Whether a list of service UUIDs, complete or not, holds `uuid`.
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

    /// The octets of the local name, in UTF-8 if the device follows the specification; the complete name if there is
    /// one, otherwise the shortened one.
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

    /// What the device says about its discoverability.
    @inlinable
    public var flags: AdvertisingFlags? {
        guard let data = first(.flags) else { return nil }
        return AdvertisingFlags(rawValue: data[0])
    }

    /// A manufacturer's data, without its company identifier.
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

    /// A service's data, without its UUID.
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
