import BluetoothBase

/// LE Read Maximum Advertising Data Length (Core 5.4, Vol 4, Part E, 7.8.57).
public struct LEReadMaximumAdvertisingDataLength: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.leReadMaximumAdvertisingDataLength
    public init() {}

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// The longest advertising data of a set, in octets, 31 to 1650.
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

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// How many advertising sets can exist at once, 1 to 240. It may change as sets are created or removed.
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
    /// The advertising set.
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
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle
    /// The random address the set advertises with.
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
        /// The advertising set.
        public var advertisingHandle: AdvertisingHandle
        /// How long to advertise, in units of 10 ms; 0 for no limit.
        public var duration: UInt16
        /// How many advertising events to send; 0 for no limit.
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
    /// Whether the sets are to advertise.
    public var isEnabled: Bool
    /// Up to 63 sets. An empty list with `isEnabled` false stops all sets.
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
