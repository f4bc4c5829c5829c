import BluetoothBase

/// LE Read Filter Accept List Size (Core 5.4, Vol 4, Part E, 7.8.14).
public struct LEReadFilterAcceptListSize: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x08, OCF 0x000F.
    public static let opcode = HCIOpcode.leReadFilterAcceptListSize

    /// Creates the command, which has no parameters.
    public init() {}

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// The number of entries the list can hold.
        public var size: UInt8

        /// Creates the return parameters from the number of entries that the list can hold.
        public init(size: UInt8) {
            self.size = size
        }

        /// Decodes the size, one octet. Throws if the octet is missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            size = try parameters.read()
        }

        /// Appends the size, one octet.
        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: size)
        }
    }
}

/// LE Clear Filter Accept List (Core 5.4, Vol 4, Part E, 7.8.15).
public struct LEClearFilterAcceptList: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x08, OCF 0x0010.
    public static let opcode = HCIOpcode.leClearFilterAcceptList

    /// Creates the command, which has no parameters.
    public init() {}
}

/// LE Add Device To Filter Accept List (Core 5.4, Vol 4, Part E, 7.8.16).
public struct LEAddDeviceToFilterAcceptList: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0011.
    public static let opcode = HCIOpcode.leAddDeviceToFilterAcceptList
    /// The device's address; nil for devices that advertise anonymously.
    public var address: DeviceAddress?

    /// Creates the command. Nil adds an entry for anonymous advertisers.
    public init(address: DeviceAddress?) {
        self.address = address
    }

    /// Decodes the address type and the address, seven octets. The type 0xFF is decoded as nil. Throws if octets are
    /// missing, or if the address type is reserved.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        address = try parameters.read()
    }

    /// Appends the address type and the address, seven octets. Nil is encoded as type 0xFF.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: address)
    }
}

/// LE Remove Device From Filter Accept List (Core 5.4, Vol 4, Part E, 7.8.17).
public struct LERemoveDeviceFromFilterAcceptList: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0012.
    public static let opcode = HCIOpcode.leRemoveDeviceFromFilterAcceptList
    /// The device's address; nil for devices that advertise anonymously.
    public var address: DeviceAddress?

    /// Creates the command. Nil removes the entry for anonymous advertisers.
    public init(address: DeviceAddress?) {
        self.address = address
    }

    /// Decodes the address type and the address, seven octets. The type 0xFF is decoded as nil. Throws if octets are
    /// missing, or if the address type is reserved.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        address = try parameters.read()
    }

    /// Appends the address type and the address, seven octets. Nil is encoded as type 0xFF.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: address)
    }
}
