import BluetoothATT
import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP

/// The content of a packet, as text for people and as numbers for tools.
///
/// Every number comes from the decoder of its layer. Fields that the packet does not contain, or that could not be
/// decoded, are nil or empty.
public struct PacketDescription: Equatable, Sendable {
    /// The complete content of the packet in one line, without time and direction.
    public var text = ""
    /// The reason why the packet, or a part of it, could not be decoded; nil if it was decoded completely.
    public var malformation: String?
    /// The H4 indicator, assigned or not (Core 5.4, Vol 4, Part A, 2); nil for an empty packet.
    public var packetType: UInt8?
    /// The header of a command; nil for other packets, and for a command with a malformed header.
    public var command: Command?
    /// The header of an event; nil for other packets, and for an event that could not be decoded.
    public var event: Event?
    /// The header of an ACL data packet; nil for other packets, and if it could not be decoded.
    public var aclData: ACLData?
    /// Set for a packet that begins an L2CAP PDU and contains its whole header, and for the one that completes it.
    public var frame: Frame?
    /// Set for the packet that completes a PDU of the L2CAP signalling channel.
    public var signalling: Signalling?
    /// Set for the packet that completes an ATT PDU, unless the PDU is malformed.
    public var attribute: Attribute?
    /// Set for the packet that completes a PDU of the Security Manager Protocol.
    public var securityManager: SecurityManager?

    /// A command packet (Core 5.4, Vol 4, Part E, 5.4.1).
    public struct Command: Equatable, Sendable {
        /// The opcode: OGF and OCF.
        public var opcode: HCIOpcode
        /// The length of the parameters, in octets.
        public var parameterLength: Int
        /// The connection handles in the parameters, as far as their positions are known.
        public var connectionHandles: [ConnectionHandle] = []
        /// The owner of the key with which a link will be encrypted, if `PacketTracer.keyOwners` contains the key.
        public var keyOwner: String?
    }

    /// An event packet (Core 5.4, Vol 4, Part E, 5.4.4).
    public struct Event: Equatable, Sendable {
        /// The event code. An LE event also has a `subeventCode`.
        public var code: HCIEventCode
        /// The length of the parameters, in octets.
        public var parameterLength: Int
        /// Set for an LE Meta event.
        public var subeventCode: LESubeventCode?
        /// The command to which a Command Complete or Command Status event responds, or `HCIOpcode.none` if it responds
        /// to no command; nil for other events.
        public var commandOpcode: HCIOpcode?
        /// The connection handles in the parameters, in order, as far as their positions are known.
        public var connectionHandles: [ConnectionHandle] = []
    }

    /// The header of an ACL data packet (Core 5.4, Vol 4, Part E, 5.4.2).
    public struct ACLData: Equatable, Sendable {
        /// The handle of the connection that the data belongs to.
        public var connectionHandle: ConnectionHandle
        /// The Packet_Boundary_Flag: whether the packet starts or continues an L2CAP PDU.
        public var boundary: ACLDataPacket.Boundary
        /// The Broadcast_Flag, two bits; 0 on an LE link.
        public var broadcast: UInt8
        /// The length of the data after the header, in octets.
        public var dataLength: Int
    }

    /// The basic header of an L2CAP PDU (Core 5.4, Vol 3, Part A, 3.1).
    public struct Frame: Equatable, Sendable {
        /// The number of octets after the header.
        public var length: Int
        /// The channel endpoint on the receiving device.
        public var channel: ChannelIdentifier
        /// Whether this packet completes the PDU.
        public var isComplete: Bool
    }

    /// The header of a signalling command (Core 5.4, Vol 3, Part A, 4).
    public struct Signalling: Equatable, Sendable {
        /// The code of the command, assigned or not.
        public var code: UInt8
        /// The identifier that matches a response to its request.
        public var identifier: UInt8
        /// The length of the data after the header, in octets.
        public var length: Int
    }

    /// An ATT PDU (Core 5.4, Vol 3, Part F, 3.4). Lists are in the order of the PDU.
    public struct Attribute: Equatable, Sendable {
        /// The opcode of the PDU, assigned or not.
        public var opcode: UInt8
        /// The first handle of the range in a request; nil for a PDU without a range.
        public var startingHandle: AttributeHandle?
        /// The last handle of the range in a request; nil for a PDU without a range.
        public var endingHandle: AttributeHandle?
        /// The handles that the PDU lists individually.
        public var handles: [AttributeHandle] = []
        /// The last handles of the groups that begin at `handles`.
        public var groupEndHandles: [AttributeHandle] = []
        /// The offset in the attribute's value, in octets; nil for a PDU without an offset.
        public var offset: UInt16?
        /// The client's or the server's receive MTU, in octets; nil unless the PDU exchanges the MTU.
        public var rxMTU: UInt16?
        /// The length of a list element in octets.
        public var elementLength: UInt8?
        /// The length of each value, in octets.
        public var valueLengths: [Int] = []
        /// The content of an ATT_ERROR_RSP; nil for other PDUs.
        public var error: ATTError?
    }

    /// A PDU of the Security Manager Protocol (Core 5.4, Vol 3, Part H, 3.3).
    public struct SecurityManager: Equatable, Sendable {
        /// The code of the PDU, assigned or not.
        public var code: UInt8
    }
}

extension PacketDescription {
    /// Returns the line for the packet, without a line break. The time is shown in seconds since the origin of
    /// `instant`, with six decimal places.
    ///
    /// - Parameter direction: nil for a monitor record that is not a packet, which has no direction.
    public func line(_ direction: PacketTracer.Direction?, at instant: Instant) -> String {
        let mark =
            switch direction {
            case .hostToController: ">"
            case .controllerToHost: "<"
            case nil: "="
            }
        let microseconds = instant.nanoseconds / 1000
        let fraction = "\(1_000_000 + microseconds % 1_000_000)".dropFirst()
        return "\(microseconds / 1_000_000).\(fraction) \(mark) \(text)"
    }
}
