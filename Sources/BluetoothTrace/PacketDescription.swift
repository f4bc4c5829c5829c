import BluetoothATT
import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP

/// The content of one packet: as text for people, and as numbers for tools.
///
/// Every number comes from the decoder of its layer. Whatever a packet does not contain, or could not be decoded, is
/// nil or empty.
public struct PacketDescription: Equatable, Sendable {
    /// Everything the packet says, on one line, without time and direction.
    public var text = ""
    /// Why the packet, or a part of it, could not be decoded; nil if everything could.
    public var malformation: String?
    /// The H4 indicator, assigned or not (Core 5.4, Vol 4, Part A, 2); nil for an empty packet.
    public var packetType: UInt8?
    public var command: Command?
    public var event: Event?
    public var aclData: ACLData?
    /// Set for a packet that begins an L2CAP PDU and contains its whole header, and for the one that completes it.
    public var frame: Frame?
    /// Set for the packet that completes the PDU, like the next two.
    public var signalling: Signalling?
    public var attribute: Attribute?
    public var securityManager: SecurityManager?

    /// A command packet (Core 5.4, Vol 4, Part E, 5.4.1).
    public struct Command: Equatable, Sendable {
        public var opcode: HCIOpcode
        public var parameterLength: Int
        /// The connection handles in the parameters, for a command in the catalog.
        public var connectionHandles: [ConnectionHandle] = []
        /// Whose the key is that a link is to be encrypted with, if `PacketTracer.keyOwners` has it.
        public var keyOwner: String?
    }

    /// An event packet (Core 5.4, Vol 4, Part E, 5.4.4).
    public struct Event: Equatable, Sendable {
        public var code: HCIEventCode
        public var parameterLength: Int
        /// Set for an LE Meta event.
        public var subeventCode: LESubeventCode?
        /// The command that a Command Complete or Command Status answers; `none` if it answers none.
        public var commandOpcode: HCIOpcode?
        /// The connection handles in the parameters, in order, for an event this package has a type for.
        public var connectionHandles: [ConnectionHandle] = []
    }

    /// The header of an ACL data packet (Core 5.4, Vol 4, Part E, 5.4.2).
    public struct ACLData: Equatable, Sendable {
        public var connectionHandle: ConnectionHandle
        public var boundary: ACLDataPacket.Boundary
        public var broadcast: UInt8
        public var dataLength: Int
    }

    /// The basic header of an L2CAP PDU (Core 5.4, Vol 3, Part A, 3.1).
    public struct Frame: Equatable, Sendable {
        /// How many octets follow the header.
        public var length: Int
        public var channel: ChannelIdentifier
        /// Whether this packet completes the PDU.
        public var isComplete: Bool
    }

    /// The header of a signalling command (Core 5.4, Vol 3, Part A, 4).
    public struct Signalling: Equatable, Sendable {
        public var code: UInt8
        public var identifier: UInt8
        public var length: Int
    }

    /// An ATT PDU (Core 5.4, Vol 3, Part F, 3.4). Lists are in the order of the PDU.
    public struct Attribute: Equatable, Sendable {
        public var opcode: UInt8
        public var startingHandle: AttributeHandle?
        public var endingHandle: AttributeHandle?
        /// The attributes named one by one.
        public var handles: [AttributeHandle] = []
        /// The last handles of the groups that begin at `handles`.
        public var groupEndHandles: [AttributeHandle] = []
        public var offset: UInt16?
        public var rxMTU: UInt16?
        /// The length of an element of the list, in octets.
        public var elementLength: UInt8?
        /// The length of each value, in octets.
        public var valueLengths: [Int] = []
        public var error: ATTError?
    }

    /// A PDU of the Security Manager Protocol (Core 5.4, Vol 3, Part H, 3.3).
    public struct SecurityManager: Equatable, Sendable {
        public var code: UInt8
    }
}

extension PacketDescription {
    /// The line for the packet, without a line break. The time is shown in seconds since the origin of `instant`, with
    /// six places after the point.
    ///
    /// - Parameter direction: nil for a note of the monitor, which has no direction.
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
