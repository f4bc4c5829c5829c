import BluetoothBase

/// The capture format of BlueZ, Android and Wireshark: a header, then a record for each packet. All integers are
/// big-endian, as in RFC 1761, on which it is based.
public enum BTSnoop {
    /// The format of a capture's packets.
    public enum Datalink: UInt32, Sendable {
        /// HCI packets without an indicator; the record's flags distinguish commands and events from data.
        case hci = 1001
        /// HCI packets, H4 indicator first.
        case h4 = 1002
        /// The format of BlueZ's monitor: an adapter and a monitor opcode in the flags.
        case monitor = 2001
    }

    /// Which way a packet went.
    public enum Direction: UInt8, Sendable {
        /// From host to controller.
        case sent = 0
        /// From controller to host.
        case received = 1
    }

    /// What is known about a packet besides its bytes.
    public struct Record: Equatable, Sendable {
        /// Which way the packet went.
        public var direction: Direction
        /// The kind of packet; nil if the record is not a packet, such as a note about an adapter, or if its indicator
        /// is unknown.
        public var type: HCIPacketType?
        /// The length of the packet when it was captured. More than is recorded if the capture truncated it.
        public var originalLength: Int
        /// How many packets have been lost since the capture began.
        public var cumulativeDrops: UInt32
        /// The time since 1970-01-01 00:00 UTC; negative before.
        public var microsecondsSince1970: Int64
        /// The adapter the record is about, in a capture of the monitor.
        public var adapter: UInt16?
        /// The kind of record, in a capture of the monitor.
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

        /// A record of the kernel's monitor.
        ///
        /// - Parameters:
        ///   - adapter: the number `N` of `hciN`; 0xFFFF if it concerns none.
        ///   - dataLength: how many octets it has, without an H4 indicator.
        public init(
            monitorOpcode: MonitorOpcode, adapter: UInt16, dataLength: Int, microsecondsSince1970: Int64
        ) {
            let packet = monitorOpcode.packet
            self.init(
                direction: packet?.direction ?? .received, type: packet?.type, originalLength: dataLength,
                microsecondsSince1970: microsecondsSince1970, adapter: adapter == BTSnoop.noAdapter ? nil : adapter,
                monitorOpcode: monitorOpcode)
        }
    }

    /// "btsnoop" and a zero octet.
    static let identification: InlineArray<8, UInt8> = [0x62, 0x74, 0x73, 0x6E, 0x6F, 0x6F, 0x70, 0x00]
    static let version: UInt32 = 1
    static let headerLength = 16
    static let recordHeaderLength = 24
    /// The timestamp of 1970-01-01 00:00 UTC: microseconds since the year 0. Computed from the timestamp of 2000-01-01
    /// 00:00 UTC, which the format defines.
    static let microsecondsAt1970: Int64 = 0x00E0_3AB4_4A67_6000 - 946_684_800 * 1_000_000
}
