import BluetoothBase

/// Read Local Version Information (Core 5.4, Vol 4, Part E, 7.4.1).
public struct ReadLocalVersionInformation: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x04, OCF 0x0001.
    public static let opcode = HCIOpcode.readLocalVersionInformation

    /// Creates the command, which has no parameters.
    public init() {}

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters, Hashable {
        /// The version of HCI that the controller implements.
        public var hciVersion: CoreVersion
        /// The revision of the HCI implementation, assigned by the manufacturer.
        public var hciSubversion: UInt16
        /// The version of the Link Layer, or of LMP on a BR/EDR controller.
        public var lmpVersion: CoreVersion
        /// The company identifier of the controller's manufacturer, from Assigned Numbers.
        public var companyIdentifier: UInt16
        /// The revision of the Link Layer or LMP implementation, assigned by the manufacturer.
        public var lmpSubversion: UInt16

        /// Creates the return parameters. The manufacturer assigns the subversions.
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

        /// Decodes eight octets of return parameters. Throws if octets are missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            (hciVersion, hciSubversion, lmpVersion, companyIdentifier, lmpSubversion) = try parameters.read()
        }

        /// Appends the eight octets of return parameters.
        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: hciVersion, hciSubversion, lmpVersion, companyIdentifier, lmpSubversion)
        }
    }
}

/// Read Local Supported Commands (Core 5.4, Vol 4, Part E, 7.4.2).
public struct ReadLocalSupportedCommands: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x04, OCF 0x0002.
    public static let opcode = HCIOpcode.readLocalSupportedCommands

    /// Creates the command, which has no parameters.
    public init() {}

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// The commands that the controller supports.
        public var supportedCommands: SupportedCommands

        /// Creates the return parameters from a set of commands.
        public init(supportedCommands: SupportedCommands) {
            self.supportedCommands = supportedCommands
        }

        /// Decodes the bits of the commands, 64 octets. Throws if octets are missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            supportedCommands = try parameters.read()
        }

        /// Appends the bits of the commands, 64 octets.
        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: supportedCommands)
        }
    }
}

/// Read Local Supported Features (Core 5.4, Vol 4, Part E, 7.4.3).
public struct ReadLocalSupportedFeatures: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x04, OCF 0x0003.
    public static let opcode = HCIOpcode.readLocalSupportedFeatures

    /// Creates the command, which has no parameters.
    public init() {}

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// Page 0 of the LMP features.
        public var features: LMPFeatures

        /// Creates the return parameters from page 0 of the LMP features.
        public init(features: LMPFeatures) {
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

/// Read Buffer Size (Core 5.4, Vol 4, Part E, 7.4.5): reads the number and size of the BR/EDR buffers. LE shares them
/// if LE Read Buffer Size returns 0.
public struct ReadBufferSize: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x04, OCF 0x0005.
    public static let opcode = HCIOpcode.readBufferSize

    /// Creates the command, which has no parameters.
    public init() {}

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// The maximum data length of an ACL packet that the controller accepts, in octets, excluding the header.
        public var aclDataPacketLength: UInt16
        /// The maximum data length of a synchronous packet that the controller accepts, in octets, excluding the
        /// header.
        public var synchronousDataPacketLength: UInt8
        /// The number of ACL packets the controller can buffer.
        public var totalACLDataPackets: UInt16
        /// The number of synchronous packets the controller can buffer.
        public var totalSynchronousDataPackets: UInt16

        /// Creates the return parameters. Lengths are in octets, excluding the header.
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

        /// Decodes seven octets of return parameters. Throws if octets are missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            (
                aclDataPacketLength, synchronousDataPacketLength, totalACLDataPackets, totalSynchronousDataPackets
            ) = try parameters.read()
        }

        /// Appends the seven octets of return parameters.
        public func encode(into writer: inout ByteWriter) {
            writer.append(
                parameters: aclDataPacketLength, synchronousDataPacketLength, totalACLDataPackets,
                totalSynchronousDataPackets)
        }
    }
}

/// Read BD_ADDR (Core 5.4, Vol 4, Part E, 7.4.6): reads the controller's public address.
public struct ReadBDADDR: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x04, OCF 0x0009.
    public static let opcode = HCIOpcode.readBDADDR

    /// Creates the command, which has no parameters.
    public init() {}

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// The public address; zero if the controller has none.
        public var address: DeviceAddress

        /// Creates the return parameters. Only the address itself is encoded, not its type.
        public init(address: DeviceAddress) { self.address = address }

        /// Decodes six octets as a public address. Throws if octets are missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            address = try parameters.readAddress(.public)
        }

        /// Appends the six octets of the address, without its type.
        public func encode(into writer: inout ByteWriter) {
            writer.append(address)
        }
    }
}

/// Read RSSI (Core 5.4, Vol 4, Part E, 7.5.4).
public struct ReadRSSI: HCIConnectionCommand {
    /// The command's opcode: OGF 0x05, OCF 0x0005.
    public static let opcode = HCIOpcode.readRSSI
    /// The connection.
    public var connectionHandle: ConnectionHandle

    /// Creates the command for this connection.
    public init(connectionHandle: ConnectionHandle) { self.connectionHandle = connectionHandle }

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// The connection.
        public var connectionHandle: ConnectionHandle
        /// The received signal strength in dBm, -127 to 20; 127 if it is not available.
        public var rssi: Int8

        /// Creates the return parameters. Pass 127 if the signal strength is not available.
        public init(connectionHandle: ConnectionHandle, rssi: Int8) {
            self.connectionHandle = connectionHandle
            self.rssi = rssi
        }

        /// Decodes the connection handle and the signal strength, three octets. Throws if octets are missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            (connectionHandle, rssi) = try parameters.read()
        }

        /// Appends the connection handle and the signal strength, three octets.
        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: connectionHandle, rssi)
        }
    }
}
