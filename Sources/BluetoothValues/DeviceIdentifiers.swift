import BluetoothBase

/// System ID, 0x2A23: a number that is unique to the device.
public struct SystemID: CharacteristicValue, Hashable {
    /// The characteristic's UUID, 0x2A23.
    public static var uuid: BluetoothUUID { .init(0x2A23) }

    /// A 40-bit number assigned by the manufacturer. Higher bits are dropped.
    public var manufacturerIdentifier: UInt64
    /// The 24-bit Organizationally Unique Identifier that the IEEE has assigned to the manufacturer. Higher bits are
    /// dropped.
    public var organizationallyUniqueIdentifier: UInt32

    /// Creates an ID from its two parts.
    public init(manufacturerIdentifier: UInt64, organizationallyUniqueIdentifier: UInt32) {
        self.manufacturerIdentifier = manufacturerIdentifier & 0xFF_FFFF_FFFF
        self.organizationallyUniqueIdentifier = organizationallyUniqueIdentifier & 0xFF_FFFF
    }

    /// Decodes exactly eight octets.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        try reader.require(8)
        manufacturerIdentifier = try reader.readLittleEndian(byteCount: 5)
        organizationallyUniqueIdentifier = try reader.readUInt24()
        try reader.finish()
    }

    /// Appends five octets of the manufacturer's identifier and three of the OUI.
    public func encode(into writer: inout ByteWriter) {
        writer.append(manufacturerIdentifier, byteCount: 5)
        writer.append(UInt64(organizationallyUniqueIdentifier), byteCount: 3)
    }
}

/// PnP ID, 0x2A50: the vendor, product and version of the device, for programs that select a driver.
public struct PnPID: CharacteristicValue, Hashable {
    /// The characteristic's UUID, 0x2A50.
    public static var uuid: BluetoothUUID { .init(0x2A50) }

    /// The organization that assigned the vendor ID.
    public struct VendorIDSource: RawRepresentable, Hashable, Sendable {
        /// The source: 1 and 2 are assigned, and all other values are reserved for future use.
        public var rawValue: UInt8

        /// Creates a source from its value, whether or not the value is assigned.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The vendor ID is a company identifier assigned by the Bluetooth SIG.
        public static let bluetoothSIG = Self(rawValue: 1)
        /// The vendor ID was assigned by the USB Implementer's Forum.
        public static let usbImplementersForum = Self(rawValue: 2)
    }

    /// The organization that assigned `vendorID`.
    public var vendorIDSource: VendorIDSource
    /// The vendor's number in the list of `vendorIDSource`.
    public var vendorID: UInt16
    /// The vendor's number for the product.
    public var productID: UInt16
    /// The version in binary-coded decimal. For example, 0x0213 is 2.1.3.
    public var productVersion: UInt16

    /// Creates an ID. `productVersion` is in binary-coded decimal.
    public init(vendorIDSource: VendorIDSource, vendorID: UInt16, productID: UInt16, productVersion: UInt16) {
        self.vendorIDSource = vendorIDSource
        self.vendorID = vendorID
        self.productID = productID
        self.productVersion = productVersion
    }

    /// Decodes exactly seven octets. Every value is valid.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        try reader.require(7)
        vendorIDSource = VendorIDSource(rawValue: try reader.readUInt8())
        vendorID = try reader.readUInt16()
        productID = try reader.readUInt16()
        productVersion = try reader.readUInt16()
        try reader.finish()
    }

    /// Appends seven octets.
    public func encode(into writer: inout ByteWriter) {
        writer.append(vendorIDSource.rawValue)
        writer.append(vendorID)
        writer.append(productID)
        writer.append(productVersion)
    }
}
