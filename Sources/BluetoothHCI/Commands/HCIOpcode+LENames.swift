extension HCIOpcode {
    /// The name of an LE Controller command without a type in this package (Core 6.0, Vol 4, Part E, 7.8).
    var untypedName: String? { group == .leController ? Self.untypedNames[rawValue & 0x03FF] : nil }

    /// Whether the parameters of a command without a type in this package begin with a connection handle.
    package var untypedBeginsWithConnectionHandle: Bool {
        group == .leController && Self.linkCommands.contains(rawValue & 0x03FF)
    }

    private static let untypedNames: [UInt16: String] = [
        0x1D: "LE Receiver Test [v1]", 0x1E: "LE Transmitter Test [v1]", 0x1F: "LE Test End",
        0x25: "LE Read Local P-256 Public Key", 0x26: "LE Generate DHKey [v1]",
        0x2B: "LE Read Peer Resolvable Address", 0x2C: "LE Read Local Resolvable Address",
        0x33: "LE Receiver Test [v2]", 0x34: "LE Transmitter Test [v2]",
        0x4B: "LE Read Transmit Power", 0x4C: "LE Read RF Path Compensation", 0x4D: "LE Write RF Path Compensation",
        0x4E: "LE Set Privacy Mode", 0x4F: "LE Receiver Test [v3]", 0x50: "LE Transmitter Test [v3]",
        0x51: "LE Set Connectionless CTE Transmit Parameters", 0x52: "LE Set Connectionless CTE Transmit Enable",
        0x53: "LE Set Connectionless IQ Sampling Enable", 0x54: "LE Set Connection CTE Receive Parameters",
        0x55: "LE Set Connection CTE Transmit Parameters", 0x56: "LE Connection CTE Request Enable",
        0x57: "LE Connection CTE Response Enable", 0x58: "LE Read Antenna Information", 0x5E: "LE Generate DHKey [v2]",
        0x5F: "LE Modify Sleep Clock Accuracy", 0x60: "LE Read Buffer Size [v2]", 0x61: "LE Read ISO TX Sync",
        0x62: "LE Set CIG Parameters", 0x63: "LE Set CIG Parameters Test", 0x64: "LE Create CIS", 0x65: "LE Remove CIG",
        0x66: "LE Accept CIS Request", 0x67: "LE Reject CIS Request", 0x68: "LE Create BIG",
        0x69: "LE Create BIG Test", 0x6A: "LE Terminate BIG", 0x6B: "LE BIG Create Sync", 0x6C: "LE BIG Terminate Sync",
        0x6D: "LE Request Peer SCA", 0x6E: "LE Setup ISO Data Path", 0x6F: "LE Remove ISO Data Path",
        0x70: "LE ISO Transmit Test", 0x71: "LE ISO Receive Test", 0x72: "LE ISO Read Test Counters",
        0x73: "LE ISO Test End", 0x74: "LE Set Host Feature [v1]", 0x75: "LE Read ISO Link Quality",
        0x7B: "LE Transmitter Test [v4]",
        0x7C: "LE Set Data Related Address Changes", 0x7D: "LE Set Default Subrate", 0x7E: "LE Subrate Request",
        0x7F: "LE Set Extended Advertising Parameters [v2]", 0x80: "LE Set Decision Data",
        0x81: "LE Set Decision Instructions",
        0x87: "LE Read All Local Supported Features", 0x88: "LE Read All Remote Features",
        0x89: "LE CS Read Local Supported Capabilities", 0x8A: "LE CS Read Remote Supported Capabilities",
        0x8B: "LE CS Write Cached Remote Supported Capabilities", 0x8C: "LE CS Security Enable",
        0x8D: "LE CS Set Default Settings", 0x8E: "LE CS Read Remote FAE Table",
        0x8F: "LE CS Write Cached Remote FAE Table", 0x90: "LE CS Create Config", 0x91: "LE CS Remove Config",
        0x92: "LE CS Set Channel Classification", 0x93: "LE CS Set Procedure Parameters",
        0x94: "LE CS Procedure Enable", 0x95: "LE CS Test", 0x96: "LE CS Test End", 0x97: "LE Set Host Feature [v2]",
        0x98: "LE Add Device To Monitored Advertisers List", 0x99: "LE Remove Device From Monitored Advertisers List",
        0x9A: "LE Clear Monitored Advertisers List", 0x9B: "LE Read Monitored Advertisers List Size",
        0x9C: "LE Enable Monitoring Advertisers", 0x9D: "LE Frame Space Update",
    ]

    /// The commands for a link, either an ACL connection or an isochronous stream.
    private static let linkCommands: Set<UInt16> = [
        0x54, 0x55, 0x56, 0x57, 0x61, 0x66, 0x67, 0x6D, 0x6E, 0x6F, 0x70, 0x71, 0x72, 0x73, 0x75,
        0x7E, 0x88, 0x8A, 0x8B, 0x8C, 0x8D, 0x8E, 0x8F, 0x90, 0x91, 0x93, 0x94, 0x9D,
    ]
}
