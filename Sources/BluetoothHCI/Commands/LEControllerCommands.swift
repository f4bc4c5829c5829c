import BluetoothBase

/// LE Set Event Mask (Core 5.4, Vol 4, Part E, 7.8.1).
public struct LESetEventMask: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0001.
    public static let opcode = HCIOpcode.leSetEventMask
    /// The LE Meta events that the controller may send.
    public var eventMask: LEEventMask

    /// Creates the command with the LE Meta events to enable. The mask replaces the previous one.
    public init(eventMask: LEEventMask) {
        self.eventMask = eventMask
    }

    /// Decodes the mask, eight octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        eventMask = try parameters.read()
    }

    /// Appends the mask, eight octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: eventMask)
    }
}

/// LE Read Buffer Size [v1] (Core 5.4, Vol 4, Part E, 7.8.2).
public struct LEReadBufferSize: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x08, OCF 0x0002.
    public static let opcode = HCIOpcode.leReadBufferSize

    /// Creates the command, which has no parameters.
    public init() {}

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// The maximum data length of an LE ACL packet, in octets, 27 or more; 0 if LE shares the BR/EDR buffers.
        public var aclDataPacketLength: UInt16
        /// The number of LE ACL packets the controller can buffer; 0 if LE shares the BR/EDR buffers.
        public var totalACLDataPackets: UInt8

        /// Creates the return parameters. Pass 0 for both if LE shares the BR/EDR buffers.
        public init(aclDataPacketLength: UInt16, totalACLDataPackets: UInt8) {
            self.aclDataPacketLength = aclDataPacketLength
            self.totalACLDataPackets = totalACLDataPackets
        }

        /// Decodes the data length and the number of packets, three octets. Throws if octets are missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            (aclDataPacketLength, totalACLDataPackets) = try parameters.read()
        }

        /// Appends the data length and the number of packets, three octets.
        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: aclDataPacketLength, totalACLDataPackets)
        }
    }
}

/// LE Read Buffer Size [v2] (Core 5.4, Vol 4, Part E, 7.8.2).
public struct LEReadBufferSizeV2: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x08, OCF 0x0060.
    public static let opcode = HCIOpcode.leReadBufferSizeV2

    /// Creates the command, which has no parameters.
    public init() {}

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// The maximum data length of an LE ACL packet, in octets, 27 or more; 0 if LE shares the BR/EDR buffers.
        public var aclDataPacketLength: UInt16
        /// The number of LE ACL packets the controller can buffer; 0 if LE shares the BR/EDR buffers.
        public var totalACLDataPackets: UInt8
        /// The maximum data length of an ISO packet, in octets; 0 if the controller has no ISO buffers.
        public var isoDataPacketLength: UInt16
        /// The number of ISO packets the controller can buffer; 0 if it has no ISO buffers.
        public var totalISODataPackets: UInt8

        /// Creates the return parameters. Pass 0 for the ACL buffers if LE shares those of BR/EDR, and for the ISO
        /// buffers if the controller has none.
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

        /// Decodes six octets of return parameters. Throws if octets are missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            (aclDataPacketLength, totalACLDataPackets, isoDataPacketLength, totalISODataPackets) = try parameters.read()
        }

        /// Appends the six octets of return parameters.
        public func encode(into writer: inout ByteWriter) {
            writer.append(
                parameters: aclDataPacketLength, totalACLDataPackets, isoDataPacketLength, totalISODataPackets)
        }
    }
}

/// LE Read Local Supported Features (Core 5.4, Vol 4, Part E, 7.8.3).
public struct LEReadLocalSupportedFeatures: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x08, OCF 0x0003.
    public static let opcode = HCIOpcode.leReadLocalSupportedFeatures

    /// Creates the command, which has no parameters.
    public init() {}

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// The LE features that the controller supports.
        public var features: LEFeatures

        /// Creates the return parameters from a set of features.
        public init(features: LEFeatures) {
            self.features = features
        }

        /// Decodes the features, eight octets. Throws if octets are missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            features = try parameters.read()
        }

        /// Appends the features, eight octets.
        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: features)
        }
    }
}

/// LE Set Random Address (Core 5.4, Vol 4, Part E, 7.8.4). A controller rejects the command while it is advertising or
/// scanning.
public struct LESetRandomAddress: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0005.
    public static let opcode = HCIOpcode.leSetRandomAddress
    /// The random address to use for legacy advertising, scanning and initiating.
    public var address: DeviceAddress

    /// Creates the command. Only the address itself is sent, not its type.
    public init(address: DeviceAddress) { self.address = address }

    /// Decodes six octets as a random address. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        address = try parameters.readAddress(.random)
    }

    /// Appends the six octets of the address, without its type.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(address)
    }
}

/// LE Set Host Channel Classification (Core 5.4, Vol 4, Part E, 7.8.19).
public struct LESetHostChannelClassification: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0014.
    public static let opcode = HCIOpcode.leSetHostChannelClassification
    /// The channels that may be used, at least one. A clear bit marks a channel as bad.
    public var channelMap: LEChannelMap

    /// Creates the command from the channels that may be used.
    public init(channelMap: LEChannelMap) {
        self.channelMap = channelMap
    }

    /// Decodes the channel map, five octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        channelMap = try parameters.read()
    }

    /// Appends the channel map, five octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: channelMap)
    }
}

/// LE Read Supported States (Core 5.4, Vol 4, Part E, 7.8.27).
public struct LEReadSupportedStates: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x08, OCF 0x001C.
    public static let opcode = HCIOpcode.leReadSupportedStates

    /// Creates the command, which has no parameters.
    public init() {}

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// The states and combinations of states that the controller supports.
        public var states: LEStates

        /// Creates the return parameters from the supported states.
        public init(states: LEStates) {
            self.states = states
        }

        /// Decodes the states, eight octets. Throws if octets are missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            states = try parameters.read()
        }

        /// Appends the states, eight octets.
        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: states)
        }
    }
}

/// LE Read Transmit Power (Core 5.4, Vol 4, Part E, 7.8.74).
public struct LEReadTransmitPower: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x08, OCF 0x004B.
    public static let opcode = HCIOpcode.leReadTransmitPower

    /// Creates the command, which has no parameters.
    public init() {}

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// The minimum transmit power of the controller, in dBm, -127 to 20.
        public var minTransmitPower: Int8
        /// The maximum transmit power of the controller, in dBm, -127 to 20.
        public var maxTransmitPower: Int8

        /// Creates the return parameters. Both powers are in dBm.
        public init(minTransmitPower: Int8, maxTransmitPower: Int8) {
            self.minTransmitPower = minTransmitPower
            self.maxTransmitPower = maxTransmitPower
        }

        /// Decodes the minimum and the maximum, two octets. Throws if octets are missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            (minTransmitPower, maxTransmitPower) = try parameters.read()
        }

        /// Appends the minimum and the maximum, two octets.
        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: minTransmitPower, maxTransmitPower)
        }
    }
}

/// LE Set Host Feature [v1] (Core 5.4, Vol 4, Part E, 7.8.115): tells the controller whether the host supports a
/// feature.
public struct LESetHostFeature: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0074.
    public static let opcode = HCIOpcode.leSetHostFeature
    /// The bit number of the feature in `LEFeatures`. It must be a feature that the host controls.
    public var bitNumber: UInt8
    /// Whether the host supports the feature.
    public var isSupported: Bool

    /// Creates the command that sets or clears one feature bit of the host.
    public init(bitNumber: UInt8, isSupported: Bool) {
        self.bitNumber = bitNumber
        self.isSupported = isSupported
    }

    /// Decodes the bit number and the flag, two octets. Throws if octets are missing, or if the flag is neither 0x00
    /// nor 0x01.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (bitNumber, isSupported) = try parameters.read()
    }

    /// Appends the bit number and the flag, two octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: bitNumber, isSupported)
    }
}
