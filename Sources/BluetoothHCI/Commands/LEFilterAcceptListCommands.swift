import BluetoothBase

/// LE Read Filter Accept List Size (Core 5.4, Vol 4, Part E, 7.8.14).
public struct LEReadFilterAcceptListSize: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.leReadFilterAcceptListSize
    public init() {}

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// How many entries the list can hold.
        public var size: UInt8

        public init(size: UInt8) {
            self.size = size
        }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            size = try parameters.read()
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: size)
        }
    }
}

/// LE Clear Filter Accept List (Core 5.4, Vol 4, Part E, 7.8.15).
public struct LEClearFilterAcceptList: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.leClearFilterAcceptList
    public init() {}
}

/// LE Add Device To Filter Accept List (Core 5.4, Vol 4, Part E, 7.8.16).
public struct LEAddDeviceToFilterAcceptList: HCICommand {
    public static let opcode = HCIOpcode.leAddDeviceToFilterAcceptList
    /// The device; nil for devices that advertise anonymously.
    public var address: DeviceAddress?

    public init(address: DeviceAddress?) {
        self.address = address
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        address = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: address)
    }
}

/// LE Remove Device From Filter Accept List (Core 5.4, Vol 4, Part E, 7.8.17).
public struct LERemoveDeviceFromFilterAcceptList: HCICommand {
    public static let opcode = HCIOpcode.leRemoveDeviceFromFilterAcceptList
    /// The device; nil for devices that advertise anonymously.
    public var address: DeviceAddress?

    public init(address: DeviceAddress?) {
        self.address = address
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        address = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: address)
    }
}
