import BluetoothBase

/// LE Read Maximum Advertising Data Length (Core 5.4, Vol 4, Part E, 7.8.57).
public struct LEReadMaximumAdvertisingDataLength: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.leReadMaximumAdvertisingDataLength
    public init() {}

    public struct ReturnParameters: HCIReturnParameters {
        /// Octets, 31 to 1650.
        public var length: UInt16

        public init(length: UInt16) {
            self.length = length
        }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            length = try parameters.read()
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: length)
        }
    }
}

/// LE Read Number Of Supported Advertising Sets (Core 5.4, Vol 4, Part E, 7.8.58).
public struct LEReadNumberOfSupportedAdvertisingSets: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.leReadNumberOfSupportedAdvertisingSets
    public init() {}

    public struct ReturnParameters: HCIReturnParameters {
        /// It may change whenever a set is made or removed.
        public var count: UInt8

        public init(count: UInt8) {
            self.count = count
        }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            count = try parameters.read()
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: count)
        }
    }
}

/// LE Remove Advertising Set (Core 5.4, Vol 4, Part E, 7.8.59).
public struct LERemoveAdvertisingSet: HCICommand {
    public static let opcode = HCIOpcode.leRemoveAdvertisingSet
    public var advertisingHandle: AdvertisingHandle

    public init(advertisingHandle: AdvertisingHandle) {
        self.advertisingHandle = advertisingHandle
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        advertisingHandle = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertisingHandle)
    }
}

/// LE Clear Advertising Sets (Core 5.4, Vol 4, Part E, 7.8.60).
public struct LEClearAdvertisingSets: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.leClearAdvertisingSets
    public init() {}
}

/// LE Set Advertising Set Random Address (Core 5.4, Vol 4, Part E, 7.8.52).
public struct LESetAdvertisingSetRandomAddress: HCICommand {
    public static let opcode = HCIOpcode.leSetAdvertisingSetRandomAddress
    public var advertisingHandle: AdvertisingHandle
    public var address: DeviceAddress

    public init(advertisingHandle: AdvertisingHandle, address: DeviceAddress) {
        self.advertisingHandle = advertisingHandle
        self.address = address
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        advertisingHandle = try parameters.read()
        address = try parameters.readAddress(.random)
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertisingHandle)
        writer.append(address)
    }
}

/// LE Set Extended Advertising Enable (Core 5.4, Vol 4, Part E, 7.8.56).
public struct LESetExtendedAdvertisingEnable: HCICommand {
    /// One advertising set to start or stop.
    public struct AdvertisingSet: Hashable, Sendable {
        public var advertisingHandle: AdvertisingHandle
        /// In units of 10 ms; 0 is for ever.
        public var duration: UInt16
        /// 0 is without limit.
        public var maxExtendedAdvertisingEvents: UInt8

        public init(
            advertisingHandle: AdvertisingHandle, duration: UInt16 = 0, maxExtendedAdvertisingEvents: UInt8 = 0
        ) {
            self.advertisingHandle = advertisingHandle
            self.duration = duration
            self.maxExtendedAdvertisingEvents = maxExtendedAdvertisingEvents
        }
    }

    public static let opcode = HCIOpcode.leSetExtendedAdvertisingEnable
    public var isEnabled: Bool
    /// Up to 63; none, with `isEnabled` false, stops all.
    public var sets: [AdvertisingSet]

    public init(isEnabled: Bool, sets: [AdvertisingSet]) {
        self.isEnabled = isEnabled
        self.sets = sets
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        isEnabled = try parameters.read()
        sets = []
        for _ in 0..<(try parameters.readUInt8()) { sets.append(try parameters.read()) }
    }

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
