import BluetoothBase

/// Read Local Version Information (Core 5.4, Vol 4, Part E, 7.4.1).
public struct ReadLocalVersionInformation: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.readLocalVersionInformation
    public init() {}

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters, Hashable {
        /// The version of HCI the controller implements.
        public var hciVersion: CoreVersion
        /// The revision of the HCI implementation; the manufacturer assigns it.
        public var hciSubversion: UInt16
        /// The version of the link layer, or of LMP on a BR/EDR controller.
        public var lmpVersion: CoreVersion
        /// The controller's manufacturer: a company identifier of the Assigned Numbers.
        public var companyIdentifier: UInt16
        /// The revision of the link layer or LMP implementation; the manufacturer assigns it.
        public var lmpSubversion: UInt16

        public init(
            hciVersion: CoreVersion,
            hciSubversion: UInt16,
            lmpVersion: CoreVersion,
            companyIdentifier: UInt16,
            lmpSubversion: UInt16
        ) {
            self.hciVersion = hciVersion
            self.hciSubversion = hciSubversion
            self.lmpVersion = lmpVersion
            self.companyIdentifier = companyIdentifier
            self.lmpSubversion = lmpSubversion
        }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            (hciVersion, hciSubversion, lmpVersion, companyIdentifier, lmpSubversion) = try parameters.read()
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: hciVersion, hciSubversion, lmpVersion, companyIdentifier, lmpSubversion)
        }
    }
}

/// Read Local Supported Commands (Core 5.4, Vol 4, Part E, 7.4.2).
public struct ReadLocalSupportedCommands: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.readLocalSupportedCommands
    public init() {}

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// The commands the controller supports.
        public var supportedCommands: SupportedCommands

        public init(supportedCommands: SupportedCommands) {
            self.supportedCommands = supportedCommands
        }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            supportedCommands = try parameters.read()
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: supportedCommands)
        }
    }
}

/// Read Local Supported Features (Core 5.4, Vol 4, Part E, 7.4.3).
public struct ReadLocalSupportedFeatures: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.readLocalSupportedFeatures
    public init() {}

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// Page 0 of the LMP features.
        public var features: LMPFeatures

        public init(features: LMPFeatures) {
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

/// Read Buffer Size (Core 5.4, Vol 4, Part E, 7.4.5): the buffers of BR/EDR, which LE shares if LE Read Buffer Size
/// returns none.
public struct ReadBufferSize: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.readBufferSize
    public init() {}

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// The longest data of an ACL packet the controller accepts, in octets, header not included.
        public var aclDataPacketLength: UInt16
        /// The longest data of a synchronous packet the controller accepts, in octets, header not included.
        public var synchronousDataPacketLength: UInt8
        /// How many ACL packets the controller can hold.
        public var totalACLDataPackets: UInt16
        /// How many synchronous packets the controller can hold.
        public var totalSynchronousDataPackets: UInt16

        public init(
            aclDataPacketLength: UInt16,
            synchronousDataPacketLength: UInt8,
            totalACLDataPackets: UInt16,
            totalSynchronousDataPackets: UInt16
        ) {
            self.aclDataPacketLength = aclDataPacketLength
            self.synchronousDataPacketLength = synchronousDataPacketLength
            self.totalACLDataPackets = totalACLDataPackets
            self.totalSynchronousDataPackets = totalSynchronousDataPackets
        }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            (
                aclDataPacketLength, synchronousDataPacketLength, totalACLDataPackets, totalSynchronousDataPackets
            ) = try parameters.read()
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(
                parameters: aclDataPacketLength, synchronousDataPacketLength, totalACLDataPackets,
                totalSynchronousDataPackets)
        }
    }
}

/// Read BD_ADDR (Core 5.4, Vol 4, Part E, 7.4.6): the controller's public address, all zeros if it has none.
public struct ReadBDADDR: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.readBDADDR
    public init() {}

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// The public address; zero if the controller has none.
        public var address: DeviceAddress

        public init(address: DeviceAddress) { self.address = address }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            address = try parameters.readAddress(.public)
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(address)
        }
    }
}

/// Read RSSI (Core 5.4, Vol 4, Part E, 7.5.4).
public struct ReadRSSI: HCIConnectionCommand {
    public static let opcode = HCIOpcode.readRSSI
    /// The connection.
    public var connectionHandle: ConnectionHandle

    public init(connectionHandle: ConnectionHandle) { self.connectionHandle = connectionHandle }

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// The connection.
        public var connectionHandle: ConnectionHandle
        /// The received signal strength in dBm, -127 to 20; 127 if it is not available.
        public var rssi: Int8

        public init(connectionHandle: ConnectionHandle, rssi: Int8) {
            self.connectionHandle = connectionHandle
            self.rssi = rssi
        }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            (connectionHandle, rssi) = try parameters.read()
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: connectionHandle, rssi)
        }
    }
}
