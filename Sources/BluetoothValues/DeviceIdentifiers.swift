import BluetoothBase

/// System ID, 0x2A23: a number that is unique to the device.
public struct SystemID: CharacteristicValue, Hashable {
    public static var uuid: BluetoothUUID { .init(0x2A23) }

    /// A number assigned by the manufacturer: 40 bits; higher ones are dropped.
    public var manufacturerIdentifier: UInt64
    /// The Organizationally Unique Identifier that the IEEE gave the manufacturer: 24 bits; higher ones are dropped.
    public var organizationallyUniqueIdentifier: UInt32

    public init(manufacturerIdentifier: UInt64, organizationallyUniqueIdentifier: UInt32) {
        self.manufacturerIdentifier = manufacturerIdentifier & 0xFF_FFFF_FFFF
        self.organizationallyUniqueIdentifier = organizationallyUniqueIdentifier & 0xFF_FFFF
    }

    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        try reader.require(8)
        manufacturerIdentifier = try reader.readLittleEndian(byteCount: 5)
        organizationallyUniqueIdentifier = try reader.readUInt24()
        try reader.finish()
    }

    public func encode(into writer: inout ByteWriter) {
        writer.append(manufacturerIdentifier, byteCount: 5)
        writer.append(UInt64(organizationallyUniqueIdentifier), byteCount: 3)
    }
}

/// PnP ID, 0x2A50: what kind of device this is, for programs that select a driver.
public struct PnPID: CharacteristicValue, Hashable {
    public static var uuid: BluetoothUUID { .init(0x2A50) }

    /// Who assigned the vendor's number.
    public struct VendorIDSource: RawRepresentable, Hashable, Sendable {
        public var rawValue: UInt8

        public init(rawValue: UInt8) { self.rawValue = rawValue }

        public static let bluetoothSIG = Self(rawValue: 1)
        public static let usbImplementersForum = Self(rawValue: 2)
    }

    public var vendorIDSource: VendorIDSource
    public var vendorID: UInt16
    /// The vendor's number for the product.
    public var productID: UInt16
    /// The version in binary-coded decimal: 0x0213 is 2.1.3.
    public var productVersion: UInt16

    public init(vendorIDSource: VendorIDSource, vendorID: UInt16, productID: UInt16, productVersion: UInt16) {
        self.vendorIDSource = vendorIDSource
        self.vendorID = vendorID
        self.productID = productID
        self.productVersion = productVersion
    }

    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        try reader.require(7)
        vendorIDSource = VendorIDSource(rawValue: try reader.readUInt8())
        vendorID = try reader.readUInt16()
        productID = try reader.readUInt16()
        productVersion = try reader.readUInt16()
        try reader.finish()
    }

    public func encode(into writer: inout ByteWriter) {
        writer.append(vendorIDSource.rawValue)
        writer.append(vendorID)
        writer.append(productID)
        writer.append(productVersion)
    }
}
