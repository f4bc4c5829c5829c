import BluetoothBase

extension BTSnoop {
    /// The kind of a record of BlueZ's monitor: a packet, or information about an adapter or the programs that use it.
    public struct MonitorOpcode: RawRepresentable, Hashable, Sendable {
        /// The opcode as the kernel defines it.
        public var rawValue: UInt16

        /// Creates an opcode from its number, whether or not it is listed here.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// An adapter was added.
        public static let newIndex = MonitorOpcode(rawValue: 0)
        /// An adapter was removed.
        public static let deleteIndex = MonitorOpcode(rawValue: 1)
        /// An HCI command.
        public static let command = MonitorOpcode(rawValue: 2)
        /// An HCI event.
        public static let event = MonitorOpcode(rawValue: 3)
        /// ACL data to the controller.
        public static let aclSent = MonitorOpcode(rawValue: 4)
        /// ACL data from the controller.
        public static let aclReceived = MonitorOpcode(rawValue: 5)
        /// Synchronous data to the controller.
        public static let synchronousSent = MonitorOpcode(rawValue: 6)
        /// Synchronous data from the controller.
        public static let synchronousReceived = MonitorOpcode(rawValue: 7)
        /// The transport to the controller was opened.
        public static let openIndex = MonitorOpcode(rawValue: 8)
        /// The transport to the controller was closed.
        public static let closeIndex = MonitorOpcode(rawValue: 9)
        /// The address and manufacturer of an adapter, once they are known.
        public static let indexInfo = MonitorOpcode(rawValue: 10)
        /// Diagnostics in a vendor-specific format.
        public static let vendorDiagnostic = MonitorOpcode(rawValue: 11)
        /// A log message of the kernel.
        public static let systemNote = MonitorOpcode(rawValue: 12)
        /// A log message of a program.
        public static let userLogging = MonitorOpcode(rawValue: 13)
        /// A program opened a Bluetooth control socket of the kernel.
        public static let controlOpen = MonitorOpcode(rawValue: 14)
        /// A program closed its control socket.
        public static let controlClose = MonitorOpcode(rawValue: 15)
        /// A command of the management interface.
        public static let controlCommand = MonitorOpcode(rawValue: 16)
        /// An event of the management interface.
        public static let controlEvent = MonitorOpcode(rawValue: 17)
        /// ISO data to the controller.
        public static let isoSent = MonitorOpcode(rawValue: 18)
        /// ISO data from the controller.
        public static let isoReceived = MonitorOpcode(rawValue: 19)

        /// The direction and type of the packet in a record with this opcode; nil if such a record contains no packet.
        var packet: (direction: Direction, type: HCIPacketType)? {
            switch self {
            case .command: (.sent, .command)
            case .event: (.received, .event)
            case .aclSent: (.sent, .aclData)
            case .aclReceived: (.received, .aclData)
            case .synchronousSent: (.sent, .synchronousData)
            case .synchronousReceived: (.received, .synchronousData)
            case .isoSent: (.sent, .isoData)
            case .isoReceived: (.received, .isoData)
            default: nil
            }
        }

        /// Creates the opcode for a packet.
        init(_ type: HCIPacketType, _ direction: Direction) {
            switch type {
            case .command: self = .command
            case .event: self = .event
            case .aclData: self = direction == .sent ? .aclSent : .aclReceived
            case .synchronousData: self = direction == .sent ? .synchronousSent : .synchronousReceived
            case .isoData: self = direction == .sent ? .isoSent : .isoReceived
            }
        }
    }

    /// The adapter index in records that concern no adapter.
    static let noAdapter: UInt16 = 0xFFFF
}

extension BTSnoop.MonitorOpcode: CustomStringConvertible {
    /// BlueZ's name for the record, or its number if the opcode is unknown.
    public var description: String {
        switch self {
        case .newIndex: "New Index"
        case .deleteIndex: "Delete Index"
        case .command: "HCI Command"
        case .event: "HCI Event"
        case .aclSent: "ACL Data TX"
        case .aclReceived: "ACL Data RX"
        case .synchronousSent: "SCO Data TX"
        case .synchronousReceived: "SCO Data RX"
        case .openIndex: "Open Index"
        case .closeIndex: "Close Index"
        case .indexInfo: "Index Info"
        case .vendorDiagnostic: "Vendor Diagnostic"
        case .systemNote: "System Note"
        case .userLogging: "User Logging"
        case .controlOpen: "Control Open"
        case .controlClose: "Control Close"
        case .controlCommand: "Control Command"
        case .controlEvent: "Control Event"
        case .isoSent: "ISO Data TX"
        case .isoReceived: "ISO Data RX"
        default: "Monitor record 0x" + hexadecimal(rawValue, digits: 4)
        }
    }
}
