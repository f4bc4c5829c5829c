import BluetoothBase

/// The capture format of BlueZ, Android and Wireshark. A header is followed by one record per packet. All integers are
/// big-endian, as in RFC 1761, on which the format is based.
public enum BTSnoop {
    /// The format of a capture's packets.
    public enum Datalink: UInt32, Sendable {
        /// HCI packets without an indicator; the record's flags distinguish commands and events from data.
        case hci = 1001
        /// HCI packets that start with their H4 indicator.
        case h4 = 1002
        /// The format of BlueZ's monitor, with an adapter index and a monitor opcode in the flags.
        case monitor = 2001
    }

    /// The direction of a packet.
    public enum Direction: UInt8, Sendable {
        /// From the host to the controller.
        case sent = 0
        /// From the controller to the host.
        case received = 1
    }

    /// The metadata of a captured packet.
    public struct Record: Equatable, Sendable {
        /// The direction of the packet.
        public var direction: Direction
        /// The type of the packet. Nil if its indicator is unknown, or if the record is not a packet but, for example,
        /// information about an adapter.
        public var type: HCIPacketType?
        /// The original length of the packet. It exceeds the recorded length if the capture truncated the packet.
        public var originalLength: Int
        /// The number of packets lost since the capture began.
        public var cumulativeDrops: UInt32
        /// The time since 1970-01-01 00:00 UTC; negative before that.
        public var microsecondsSince1970: Int64
        /// The adapter the record is about, in a capture of the monitor.
        public var adapter: UInt16?
        /// The kind of record, in a capture of the monitor.
        public var monitorOpcode: MonitorOpcode?

        /// Creates the metadata of a packet. `adapter` and `monitorOpcode` apply only to a capture of the monitor.
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

        /// Creates the metadata of a record from the kernel's monitor.
        ///
        /// - Parameters:
        ///   - adapter: the number `N` of `hciN`; 0xFFFF if the record concerns no adapter.
        ///   - dataLength: the length of the data in octets, without an H4 indicator.
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
    /// The timestamp of 1970-01-01 00:00 UTC, in microseconds since the year 0. It is computed from the timestamp of
    /// 2000-01-01 00:00 UTC, which the format defines.
    static let microsecondsAt1970: Int64 = 0x00E0_3AB4_4A67_6000 - 946_684_800 * 1_000_000
}
