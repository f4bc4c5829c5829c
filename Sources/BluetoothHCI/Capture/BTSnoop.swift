import BluetoothBase

/// The capture format of BlueZ, Android and Wireshark: a header, then a record for each packet. All integers are
/// big-endian, as RFC 1761 has them, on which it is built.
public enum BTSnoop {
    /// What a capture's packets look like.
    public enum Datalink: UInt32, Sendable {
        /// HCI packets without an indicator; the record's flags tell commands and events from data.
        case hci = 1001
        /// HCI packets, H4 indicator first.
        case h4 = 1002
        /// What BlueZ's monitor writes: an adapter and a monitor opcode in the flags.
        case monitor = 2001
    }

    /// Which way a packet went.
    public enum Direction: UInt8, Sendable {
        /// From host to controller.
        case sent = 0
        /// From controller to host.
        case received = 1
    }

    /// What is known of a packet beside its bytes.
    public struct Record: Equatable, Sendable {
        /// Which way the packet went.
        public var direction: Direction
        /// The kind of packet; nil where the record is none: one of the monitor about an adapter, or a bad indicator.
        public var type: HCIPacketType?
        /// How long the packet was when it was captured; more than is there, where the capture cut it off.
        public var originalLength: Int
        /// How many packets were lost before this one, since the capture began.
        public var cumulativeDrops: UInt32
        /// Since 1970-01-01 00:00 UTC. Negative before.
        public var microsecondsSince1970: Int64
        /// The adapter, in a capture of the monitor, where the record concerns one.
        public var adapter: UInt16?
        /// What the record is, in a capture of the monitor.
        public var monitorOpcode: MonitorOpcode?

        public init(
            direction: Direction, type: HCIPacketType?, originalLength: Int, cumulativeDrops: UInt32 = 0,
            microsecondsSince1970: Int64, adapter: UInt16? = nil, monitorOpcode: MonitorOpcode? = nil
        ) {
            self.direction = direction
            self.type = type
            self.originalLength = originalLength
            self.cumulativeDrops = cumulativeDrops
            self.microsecondsSince1970 = microsecondsSince1970
            self.adapter = adapter
            self.monitorOpcode = monitorOpcode
        }
    }

    /// "btsnoop" and a zero octet.
    static let identification: InlineArray<8, UInt8> = [0x62, 0x74, 0x73, 0x6E, 0x6F, 0x6F, 0x70, 0x00]
    static let version: UInt32 = 1
    static let headerLength = 16
    static let recordHeaderLength = 24
    /// What a record's time shows at 2000-01-01 00:00 UTC, counted in microseconds from the year 0, less what has
    /// passed from 1970 to then: what it shows at 1970-01-01 00:00 UTC.
    static let microsecondsAt1970: Int64 = 0x00E0_3AB4_4A67_6000 - 946_684_800 * 1_000_000
}
