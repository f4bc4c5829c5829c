import BluetoothBase

/// Reset (Core 5.4, Vol 4, Part E, 7.3.2): returns the controller to its power-on state.
public struct Reset: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x03, OCF 0x0003.
    public static let opcode = HCIOpcode.reset

    /// Creates the command, which has no parameters.
    public init() {}
}

/// Set Event Mask (Core 5.4, Vol 4, Part E, 7.3.1).
public struct SetEventMask: HCICommand {
    /// The command's opcode: OGF 0x03, OCF 0x0001.
    public static let opcode = HCIOpcode.setEventMask
    /// The events the controller may send.
    public var eventMask: EventMask

    /// Creates the command with the events to enable. The mask replaces the previous one.
    public init(eventMask: EventMask) {
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

/// Set Event Mask Page 2 (Core 5.4, Vol 4, Part E, 7.3.69).
public struct SetEventMaskPage2: HCICommand {
    /// The command's opcode: OGF 0x03, OCF 0x0063.
    public static let opcode = HCIOpcode.setEventMaskPage2
    /// The events the controller may send.
    public var eventMask: EventMaskPage2

    /// Creates the command with the events of page 2 to enable. The mask replaces the previous one.
    public init(eventMask: EventMaskPage2) {
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

/// Read Transmit Power Level (Core 5.4, Vol 4, Part E, 7.3.35).
public struct ReadTransmitPowerLevel: HCICommand {
    /// The command's opcode: OGF 0x03, OCF 0x002D.
    public static let opcode = HCIOpcode.readTransmitPowerLevel
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// Whether to read the current or the maximum level.
    public var type: Kind

    /// Creates the command that reads the current or the maximum level of a connection.
    public init(connectionHandle: ConnectionHandle, type: Kind) {
        self.connectionHandle = connectionHandle
        self.type = type
    }

    /// Decodes the connection handle and the kind of level, three octets. Throws if octets are missing, or if the kind
    /// of level is reserved.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, type) = try parameters.read()
    }

    /// Appends the connection handle and the kind of level, three octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, type)
    }

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// The connection.
        public var connectionHandle: ConnectionHandle
        /// The level in dBm, -30 to 20.
        public var transmitPowerLevel: Int8

        /// Creates the return parameters. The level is in dBm.
        public init(connectionHandle: ConnectionHandle, transmitPowerLevel: Int8) {
            self.connectionHandle = connectionHandle
            self.transmitPowerLevel = transmitPowerLevel
        }

        /// Decodes the connection handle and the power level, three octets. Throws if octets are missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            (connectionHandle, transmitPowerLevel) = try parameters.read()
        }

        /// Appends the connection handle and the power level, three octets.
        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: connectionHandle, transmitPowerLevel)
        }
    }
}

/// Write LE Host Support (Core 5.4, Vol 4, Part E, 7.3.79): enables LE on a controller that supports both BR/EDR and
/// LE.
public struct WriteLEHostSupport: HCICommand {
    /// The command's opcode: OGF 0x03, OCF 0x006D.
    public static let opcode = HCIOpcode.writeLEHostSupport
    /// Whether the host supports LE.
    public var isLESupported: Bool
    /// Simultaneous LE Host, which has been withdrawn from the specification; always 0.
    public var unused: UInt8

    /// Creates the command. `unused` must be 0.
    public init(isLESupported: Bool, unused: UInt8 = 0) {
        self.isLESupported = isLESupported
        self.unused = unused
    }

    /// Decodes the flag and the unused octet, two octets. Throws if octets are missing, or if the flag is neither 0x00
    /// nor 0x01.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (isLESupported, unused) = try parameters.read()
    }

    /// Appends the flag and the unused octet, two octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: isLESupported, unused)
    }
}

/// Set Controller To Host Flow Control (Core 5.4, Vol 4, Part E, 7.3.38).
public struct SetControllerToHostFlowControl: HCICommand {
    /// The command's opcode: OGF 0x03, OCF 0x0031.
    public static let opcode = HCIOpcode.setControllerToHostFlowControl
    /// The kinds of data to which flow control applies. An empty set disables flow control.
    public var flowControl: FlowControl

    /// Creates the command. An empty set disables flow control.
    public init(flowControl: FlowControl) {
        self.flowControl = flowControl
    }

    /// Decodes the flow control bits, one octet. Throws if the octet is missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        flowControl = try parameters.read()
    }

    /// Appends the flow control bits, one octet.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: flowControl)
    }
}

/// Host Buffer Size (Core 5.4, Vol 4, Part E, 7.3.39): reports the buffers of the host. The controller respects their
/// number only if flow control is enabled.
public struct HostBufferSize: HCICommand {
    /// The command's opcode: OGF 0x03, OCF 0x0033.
    public static let opcode = HCIOpcode.hostBufferSize
    /// The maximum data length of an ACL packet that the host accepts, in octets, excluding the header.
    public var aclDataPacketLength: UInt16
    /// The maximum data length of a synchronous packet that the host accepts, in octets, excluding the header.
    public var synchronousDataPacketLength: UInt8
    /// The number of ACL packets the host can buffer.
    public var totalACLDataPackets: UInt16
    /// The number of synchronous packets the host can buffer.
    public var totalSynchronousDataPackets: UInt16

    /// Creates the command. Lengths are in octets. By default, the host accepts no synchronous data.
    public init(
        aclDataPacketLength: UInt16,
        synchronousDataPacketLength: UInt8 = 0,
        totalACLDataPackets: UInt16,
        totalSynchronousDataPackets: UInt16 = 0
    ) {
        self.aclDataPacketLength = aclDataPacketLength
        self.synchronousDataPacketLength = synchronousDataPacketLength
        self.totalACLDataPackets = totalACLDataPackets
        self.totalSynchronousDataPackets = totalSynchronousDataPackets
    }

    /// Decodes seven octets of parameters. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (
            aclDataPacketLength, synchronousDataPacketLength, totalACLDataPackets, totalSynchronousDataPackets
        ) = try parameters.read()
    }

    /// Appends the seven octets of parameters.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(
            parameters: aclDataPacketLength, synchronousDataPacketLength, totalACLDataPackets,
            totalSynchronousDataPackets)
    }
}

extension ReadTransmitPowerLevel {
    /// The power level to read.
    public enum Kind: UInt8, Sendable {
        /// The current level.
        case current = 0
        /// The highest level the controller may use on this connection.
        case maximum = 1
    }
}

extension SetControllerToHostFlowControl {
    /// The kinds of data for which the host uses flow control.
    public struct FlowControl: OptionSet, Hashable, Sendable {
        /// The Flow_Control_Enable parameter. Bits 2 to 7 are reserved.
        public var rawValue: UInt8

        /// Creates a set from the command parameter. Reserved bits are kept.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// ACL data.
        public static let acl = FlowControl(rawValue: 1 << 0)
        /// Synchronous data, which LE does not use.
        public static let synchronous = FlowControl(rawValue: 1 << 1)
    }
}

extension ReadTransmitPowerLevel.Kind: HCIParameter {}
extension SetControllerToHostFlowControl.FlowControl: HCIParameter {}

/// Host Number Of Completed Packets (Core 5.4, Vol 4, Part E, 7.3.40): reports packets whose buffers in the host are
/// free again. The command needs no command credit, and the controller responds only if it rejects the command.
public struct HostNumberOfCompletedPackets: HCICommand {
    /// The command's opcode: OGF 0x03, OCF 0x0035.
    public static let opcode = HCIOpcode.hostNumberOfCompletedPackets
    /// The counts of up to 63 connections. Further ones do not fit into the command and are not sent.
    public var links: [CompletedPackets]

    /// Creates the command with the counts of up to 63 connections.
    public init(links: [CompletedPackets]) { self.links = links }

    /// Decodes the number of connections and four octets for each. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        links = []
        for _ in 0..<(try parameters.readUInt8()) { links.append(try parameters.read()) }
    }

    /// Appends the number of connections, at most 63, and four octets for each.
    public func encodeParameters(into writer: inout ByteWriter) {
        let links = links.prefix(63)
        writer.append(UInt8(links.count))
        for link in links { link.encode(into: &writer) }
    }
}
