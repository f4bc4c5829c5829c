import BluetoothBase

/// LE Read Maximum Advertising Data Length (Core 5.4, Vol 4, Part E, 7.8.57).
public struct LEReadMaximumAdvertisingDataLength: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x08, OCF 0x003A.
    public static let opcode = HCIOpcode.leReadMaximumAdvertisingDataLength

    /// Creates the command, which has no parameters.
    public init() {}

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// The maximum length of a set's advertising data, in octets, 31 to 1650.
        public var length: UInt16

        /// Creates the return parameters. The length is in octets.
        public init(length: UInt16) {
            self.length = length
        }

        /// Decodes the length, two octets. Throws if octets are missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            length = try parameters.read()
        }

        /// Appends the length, two octets.
        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: length)
        }
    }
}

/// LE Read Number Of Supported Advertising Sets (Core 5.4, Vol 4, Part E, 7.8.58).
public struct LEReadNumberOfSupportedAdvertisingSets: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x08, OCF 0x003B.
    public static let opcode = HCIOpcode.leReadNumberOfSupportedAdvertisingSets

    /// Creates the command, which has no parameters.
    public init() {}

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// The number of advertising sets that can exist at once, 1 to 240. It may change as sets are created or
        /// removed.
        public var count: UInt8

        /// Creates the return parameters from a number of sets.
        public init(count: UInt8) {
            self.count = count
        }

        /// Decodes the count, one octet. Throws if the octet is missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            count = try parameters.read()
        }

        /// Appends the count, one octet.
        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: count)
        }
    }
}

/// LE Remove Advertising Set (Core 5.4, Vol 4, Part E, 7.8.59).
public struct LERemoveAdvertisingSet: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x003C.
    public static let opcode = HCIOpcode.leRemoveAdvertisingSet
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle

    /// Creates the command that removes this set, which must not be advertising.
    public init(advertisingHandle: AdvertisingHandle) {
        self.advertisingHandle = advertisingHandle
    }

    /// Decodes the advertising handle, one octet. Throws if the octet is missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        advertisingHandle = try parameters.read()
    }

    /// Appends the advertising handle, one octet.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertisingHandle)
    }
}

/// LE Clear Advertising Sets (Core 5.4, Vol 4, Part E, 7.8.60).
public struct LEClearAdvertisingSets: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x08, OCF 0x003D.
    public static let opcode = HCIOpcode.leClearAdvertisingSets

    /// Creates the command, which has no parameters.
    public init() {}
}

/// LE Set Advertising Set Random Address (Core 5.4, Vol 4, Part E, 7.8.52).
public struct LESetAdvertisingSetRandomAddress: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0035.
    public static let opcode = HCIOpcode.leSetAdvertisingSetRandomAddress
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle
    /// The random address of the set.
    public var address: DeviceAddress

    /// Creates the command for a set. Only the address itself is sent, not its type.
    public init(advertisingHandle: AdvertisingHandle, address: DeviceAddress) {
        self.advertisingHandle = advertisingHandle
        self.address = address
    }

    /// Decodes the advertising handle and a random address, seven octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        advertisingHandle = try parameters.read()
        address = try parameters.readAddress(.random)
    }

    /// Appends the advertising handle and the address without its type, seven octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertisingHandle)
        writer.append(address)
    }
}

/// LE Set Extended Advertising Enable (Core 5.4, Vol 4, Part E, 7.8.56).
public struct LESetExtendedAdvertisingEnable: HCICommand {
    /// An advertising set to enable or disable.
    public struct AdvertisingSet: Hashable, Sendable {
        /// The advertising set.
        public var advertisingHandle: AdvertisingHandle
        /// The advertising duration in units of 10 ms; 0 for no limit.
        public var duration: UInt16
        /// The maximum number of advertising events; 0 for no limit.
        public var maxExtendedAdvertisingEvents: UInt8

        /// Creates an entry for a set. By default, the set advertises without a limit.
        public init(
            advertisingHandle: AdvertisingHandle, duration: UInt16 = 0, maxExtendedAdvertisingEvents: UInt8 = 0
        ) {
            self.advertisingHandle = advertisingHandle
            self.duration = duration
            self.maxExtendedAdvertisingEvents = maxExtendedAdvertisingEvents
        }
    }

    /// The command's opcode: OGF 0x08, OCF 0x0039.
    public static let opcode = HCIOpcode.leSetExtendedAdvertisingEnable
    /// Whether to enable the sets. False disables them.
    public var isEnabled: Bool
    /// Up to 63 sets. If `isEnabled` is false, an empty list disables all sets.
    public var sets: [AdvertisingSet]

    /// Creates the command. Only the first 63 sets are sent.
    public init(isEnabled: Bool, sets: [AdvertisingSet]) {
        self.isEnabled = isEnabled
        self.sets = sets
    }

    /// Decodes the flag, the number of sets and four octets for each. Throws if octets are missing, or if the flag is
    /// neither 0x00 nor 0x01.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        isEnabled = try parameters.read()
        sets = []
        for _ in 0..<(try parameters.readUInt8()) { sets.append(try parameters.read()) }
    }

    /// Appends the flag, the number of sets, at most 63, and four octets for each.
    public func encodeParameters(into writer: inout ByteWriter) {
        let sets = sets.prefix(63)
        writer.append(parameters: isEnabled, UInt8(sets.count))
        for set in sets { set.encode(into: &writer) }
    }
}

extension LESetExtendedAdvertisingEnable.AdvertisingSet: HCIParameter {
    init(decoding reader: inout ByteReader) throws(DecodingFailure) {
        (advertisingHandle, duration, maxExtendedAdvertisingEvents) = try reader.read()
    }

    func encode(into writer: inout ByteWriter) {
        writer.append(parameters: advertisingHandle, duration, maxExtendedAdvertisingEvents)
    }
}
