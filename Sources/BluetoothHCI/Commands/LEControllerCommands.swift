import BluetoothBase

/// LE Set Event Mask (Core 5.4, Vol 4, Part E, 7.8.1).
public struct LESetEventMask: HCICommand {
    public static let opcode = HCIOpcode.leSetEventMask
    /// The LE Meta events the controller may send.
    public var eventMask: LEEventMask

    public init(eventMask: LEEventMask) {
        self.eventMask = eventMask
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        eventMask = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: eventMask)
    }
}

/// LE Read Buffer Size [v1] (Core 5.4, Vol 4, Part E, 7.8.2).
public struct LEReadBufferSize: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.leReadBufferSize
    public init() {}

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// The longest data of an LE ACL packet, in octets, 27 or more; 0 if LE shares the buffers of BR/EDR.
        public var aclDataPacketLength: UInt16
        /// How many LE ACL packets the controller can hold; 0 if LE shares the buffers of BR/EDR.
        public var totalACLDataPackets: UInt8

        public init(aclDataPacketLength: UInt16, totalACLDataPackets: UInt8) {
            self.aclDataPacketLength = aclDataPacketLength
            self.totalACLDataPackets = totalACLDataPackets
        }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            (aclDataPacketLength, totalACLDataPackets) = try parameters.read()
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: aclDataPacketLength, totalACLDataPackets)
        }
    }
}

/// LE Read Buffer Size [v2] (Core 5.4, Vol 4, Part E, 7.8.2).
public struct LEReadBufferSizeV2: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.leReadBufferSizeV2
    public init() {}

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// The longest data of an LE ACL packet, in octets, 27 or more; 0 if LE shares the buffers of BR/EDR.
        public var aclDataPacketLength: UInt16
        /// How many LE ACL packets the controller can hold; 0 if LE shares the buffers of BR/EDR.
        public var totalACLDataPackets: UInt8
        /// The longest data of an ISO packet, in octets; 0 if there are no ISO buffers.
        public var isoDataPacketLength: UInt16
        /// How many ISO packets the controller can hold; 0 if there are no ISO buffers.
        public var totalISODataPackets: UInt8

        public init(
            aclDataPacketLength: UInt16,
            totalACLDataPackets: UInt8,
            isoDataPacketLength: UInt16,
            totalISODataPackets: UInt8
        ) {
            self.aclDataPacketLength = aclDataPacketLength
            self.totalACLDataPackets = totalACLDataPackets
            self.isoDataPacketLength = isoDataPacketLength
            self.totalISODataPackets = totalISODataPackets
        }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            (aclDataPacketLength, totalACLDataPackets, isoDataPacketLength, totalISODataPackets) = try parameters.read()
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(
                parameters: aclDataPacketLength, totalACLDataPackets, isoDataPacketLength, totalISODataPackets)
        }
    }
}

/// LE Read Local Supported Features (Core 5.4, Vol 4, Part E, 7.8.3).
public struct LEReadLocalSupportedFeatures: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.leReadLocalSupportedFeatures
    public init() {}

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// The LE features the controller supports.
        public var features: LEFeatures

        public init(features: LEFeatures) {
            self.features = features
        }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            features = try parameters.read()
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: features)
        }
    }
}

/// LE Set Random Address (Core 5.4, Vol 4, Part E, 7.8.4). A controller refuses it while it advertises or scans.
public struct LESetRandomAddress: HCICommand {
    public static let opcode = HCIOpcode.leSetRandomAddress
    /// The random address to use for legacy advertising, scanning and connecting.
    public var address: DeviceAddress

    public init(address: DeviceAddress) { self.address = address }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        address = try parameters.readAddress(.random)
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(address)
    }
}

/// LE Set Host Channel Classification (Core 5.4, Vol 4, Part E, 7.8.19).
public struct LESetHostChannelClassification: HCICommand {
    public static let opcode = HCIOpcode.leSetHostChannelClassification
    /// The channels that may be used, at least one; a clear bit marks a channel as bad.
    public var channelMap: LEChannelMap

    public init(channelMap: LEChannelMap) {
        self.channelMap = channelMap
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        channelMap = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: channelMap)
    }
}

/// LE Read Supported States (Core 5.4, Vol 4, Part E, 7.8.27).
public struct LEReadSupportedStates: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.leReadSupportedStates
    public init() {}

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// The states and combinations of states the controller supports.
        public var states: LEStates

        public init(states: LEStates) {
            self.states = states
        }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            states = try parameters.read()
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: states)
        }
    }
}

/// LE Read Transmit Power (Core 5.4, Vol 4, Part E, 7.8.74).
public struct LEReadTransmitPower: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.leReadTransmitPower
    public init() {}

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// The lowest power the controller can transmit with, in dBm, -127 to 20.
        public var minTransmitPower: Int8
        /// The highest power the controller can transmit with, in dBm, -127 to 20.
        public var maxTransmitPower: Int8

        public init(minTransmitPower: Int8, maxTransmitPower: Int8) {
            self.minTransmitPower = minTransmitPower
            self.maxTransmitPower = maxTransmitPower
        }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            (minTransmitPower, maxTransmitPower) = try parameters.read()
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: minTransmitPower, maxTransmitPower)
        }
    }
}

/// LE Set Host Feature [v1] (Core 5.4, Vol 4, Part E, 7.8.115): declares a feature of the host to the controller.
public struct LESetHostFeature: HCICommand {
    public static let opcode = HCIOpcode.leSetHostFeature
    /// The feature's bit in `LEFeatures`: one that the host controls.
    public var bitNumber: UInt8
    /// Whether the host supports the feature.
    public var isSupported: Bool

    public init(bitNumber: UInt8, isSupported: Bool) {
        self.bitNumber = bitNumber
        self.isSupported = isSupported
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (bitNumber, isSupported) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: bitNumber, isSupported)
    }
}
