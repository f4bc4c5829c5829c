import BluetoothBase

/// Reset (Core 5.4, Vol 4, Part E, 7.3.2): puts the controller in the state it has after power-on.
public struct Reset: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.reset
    public init() {}
}

/// Set Event Mask (Core 5.4, Vol 4, Part E, 7.3.1).
public struct SetEventMask: HCICommand {
    public static let opcode = HCIOpcode.setEventMask
    /// The events the controller may send.
    public var eventMask: EventMask

    public init(eventMask: EventMask) {
        self.eventMask = eventMask
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        eventMask = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: eventMask)
    }
}

/// Set Event Mask Page 2 (Core 5.4, Vol 4, Part E, 7.3.69).
public struct SetEventMaskPage2: HCICommand {
    public static let opcode = HCIOpcode.setEventMaskPage2
    /// The events the controller may send.
    public var eventMask: EventMaskPage2

    public init(eventMask: EventMaskPage2) {
        self.eventMask = eventMask
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        eventMask = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: eventMask)
    }
}

/// Read Transmit Power Level (Core 5.4, Vol 4, Part E, 7.3.35).
public struct ReadTransmitPowerLevel: HCICommand {
    public static let opcode = HCIOpcode.readTransmitPowerLevel
    /// The connection.
    public var connectionHandle: ConnectionHandle
    /// Whether to read the current or the maximum level.
    public var type: Kind

    public init(connectionHandle: ConnectionHandle, type: Kind) {
        self.connectionHandle = connectionHandle
        self.type = type
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (connectionHandle, type) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: connectionHandle, type)
    }

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// The connection.
        public var connectionHandle: ConnectionHandle
        /// The level in dBm, -30 to 20.
        public var transmitPowerLevel: Int8

        public init(connectionHandle: ConnectionHandle, transmitPowerLevel: Int8) {
            self.connectionHandle = connectionHandle
            self.transmitPowerLevel = transmitPowerLevel
        }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            (connectionHandle, transmitPowerLevel) = try parameters.read()
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: connectionHandle, transmitPowerLevel)
        }
    }
}

/// Write LE Host Support (Core 5.4, Vol 4, Part E, 7.3.79): enables LE on a controller that supports both BR/EDR and
/// LE.
public struct WriteLEHostSupport: HCICommand {
    public static let opcode = HCIOpcode.writeLEHostSupport
    /// Whether the host supports LE.
    public var isLESupported: Bool
    /// Simultaneous LE Host, which is withdrawn from the specification: 0.
    public var unused: UInt8

    public init(isLESupported: Bool, unused: UInt8 = 0) {
        self.isLESupported = isLESupported
        self.unused = unused
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (isLESupported, unused) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: isLESupported, unused)
    }
}

/// Set Controller To Host Flow Control (Core 5.4, Vol 4, Part E, 7.3.38).
public struct SetControllerToHostFlowControl: HCICommand {
    public static let opcode = HCIOpcode.setControllerToHostFlowControl
    /// The kinds of data to which flow control applies; none switches it off.
    public var flowControl: FlowControl

    public init(flowControl: FlowControl) {
        self.flowControl = flowControl
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        flowControl = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: flowControl)
    }
}

/// Host Buffer Size (Core 5.4, Vol 4, Part E, 7.3.39): the buffers of the host. The controller observes them only if
/// flow control is on.
public struct HostBufferSize: HCICommand {
    public static let opcode = HCIOpcode.hostBufferSize
    /// The longest data of an ACL packet the host accepts, in octets, header not included.
    public var aclDataPacketLength: UInt16
    /// The longest data of a synchronous packet the host accepts, in octets, header not included.
    public var synchronousDataPacketLength: UInt8
    /// How many ACL packets the host can hold.
    public var totalACLDataPackets: UInt16
    /// How many synchronous packets the host can hold.
    public var totalSynchronousDataPackets: UInt16

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

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (
            aclDataPacketLength, synchronousDataPacketLength, totalACLDataPackets, totalSynchronousDataPackets
        ) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(
            parameters: aclDataPacketLength, synchronousDataPacketLength, totalACLDataPackets,
            totalSynchronousDataPackets)
    }
}

extension ReadTransmitPowerLevel {
    /// Which power level to read.
    public enum Kind: UInt8, Sendable {
        /// The level in use now.
        case current = 0
        /// The highest level the controller may use on this connection.
        case maximum = 1
    }
}

extension SetControllerToHostFlowControl {
    /// The kinds of data whose flow the host controls.
    public struct FlowControl: OptionSet, Hashable, Sendable {
        public var rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// ACL data.
        public static let acl = FlowControl(rawValue: 1 << 0)
        /// Synchronous data, which LE does not use.
        public static let synchronous = FlowControl(rawValue: 1 << 1)
    }
}

extension ReadTransmitPowerLevel.Kind: HCIParameter {}
extension SetControllerToHostFlowControl.FlowControl: HCIParameter {}

/// Host Number Of Completed Packets (Core 5.4, Vol 4, Part E, 7.3.40): the packets for which the host has buffers
/// again. It needs no command credit, and a controller answers only to refuse it.
public struct HostNumberOfCompletedPackets: HCICommand {
    public static let opcode = HCIOpcode.hostNumberOfCompletedPackets
    /// Up to 63 connections; any more do not fit into the command and are left out.
    public var links: [CompletedPackets]

    public init(links: [CompletedPackets]) { self.links = links }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        links = []
        for _ in 0..<(try parameters.readUInt8()) { links.append(try parameters.read()) }
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        let links = links.prefix(63)
        writer.append(UInt8(links.count))
        for link in links { link.encode(into: &writer) }
    }
}
