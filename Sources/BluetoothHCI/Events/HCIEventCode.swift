import BluetoothBase

/// The code of an event (Core 5.4, Vol 4, Part E, 7.7).
public struct HCIEventCode: RawRepresentable, Hashable, Sendable {
    /// The event code, which is the first octet of an event packet after the H4 indicator.
    public var rawValue: UInt8

    /// Creates a code from its octet, whether or not this package knows the event.
    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Disconnection Complete (7.7.5).
    public static let disconnectionComplete = HCIEventCode(rawValue: 0x05)
    /// Encryption Change [v1] (7.7.8).
    public static let encryptionChange = HCIEventCode(rawValue: 0x08)
    /// Read Remote Version Information Complete (7.7.12).
    public static let readRemoteVersionInformationComplete = HCIEventCode(rawValue: 0x0C)
    /// Command Complete (7.7.14).
    public static let commandComplete = HCIEventCode(rawValue: 0x0E)
    /// Command Status (7.7.15).
    public static let commandStatus = HCIEventCode(rawValue: 0x0F)
    /// Hardware Error (7.7.16).
    public static let hardwareError = HCIEventCode(rawValue: 0x10)
    /// Number Of Completed Packets (7.7.19).
    public static let numberOfCompletedPackets = HCIEventCode(rawValue: 0x13)
    /// Data Buffer Overflow (7.7.26).
    public static let dataBufferOverflow = HCIEventCode(rawValue: 0x1A)
    /// Encryption Key Refresh Complete (7.7.39).
    public static let encryptionKeyRefreshComplete = HCIEventCode(rawValue: 0x30)
    /// LE Meta (7.7.65).
    public static let leMeta = HCIEventCode(rawValue: 0x3E)
    /// Encryption Change [v2] (7.7.8).
    public static let encryptionChangeV2 = HCIEventCode(rawValue: 0x59)
}

extension HCIEventCode: CustomStringConvertible {
    /// The event's name in the specification, or its number if it is unknown.
    public var description: String {
        switch self {
        case .disconnectionComplete: "Disconnection Complete"
        case .encryptionChange: "Encryption Change [v1]"
        case .readRemoteVersionInformationComplete: "Read Remote Version Information Complete"
        case .commandComplete: "Command Complete"
        case .commandStatus: "Command Status"
        case .hardwareError: "Hardware Error"
        case .numberOfCompletedPackets: "Number Of Completed Packets"
        case .dataBufferOverflow: "Data Buffer Overflow"
        case .encryptionKeyRefreshComplete: "Encryption Key Refresh Complete"
        case .leMeta: "LE Meta"
        case .encryptionChangeV2: "Encryption Change [v2]"
        default: "Event 0x" + hexadecimal(rawValue)
        }
    }
}

/// The subevent code of an LE Meta event (Core 5.4, Vol 4, Part E, 7.7.65).
public struct LESubeventCode: RawRepresentable, Hashable, Sendable {
    /// The subevent code, which is the first parameter of an LE Meta event.
    public var rawValue: UInt8

    /// Creates a code from its octet, whether or not this package knows the subevent.
    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// LE Connection Complete (7.7.65.1).
    public static let connectionComplete = LESubeventCode(rawValue: 0x01)
    /// LE Advertising Report (7.7.65.2).
    public static let advertisingReport = LESubeventCode(rawValue: 0x02)
    /// LE Connection Update Complete (7.7.65.3).
    public static let connectionUpdateComplete = LESubeventCode(rawValue: 0x03)
    /// LE Read Remote Features Complete (7.7.65.4).
    public static let readRemoteFeaturesComplete = LESubeventCode(rawValue: 0x04)
    /// LE Long Term Key Request (7.7.65.5).
    public static let longTermKeyRequest = LESubeventCode(rawValue: 0x05)
    /// LE Remote Connection Parameter Request (7.7.65.6).
    public static let remoteConnectionParameterRequest = LESubeventCode(rawValue: 0x06)
    /// LE Data Length Change (7.7.65.7).
    public static let dataLengthChange = LESubeventCode(rawValue: 0x07)
    /// LE Enhanced Connection Complete [v1] (7.7.65.10).
    public static let enhancedConnectionComplete = LESubeventCode(rawValue: 0x0A)
    /// LE Directed Advertising Report (7.7.65.11).
    public static let directedAdvertisingReport = LESubeventCode(rawValue: 0x0B)
    /// LE PHY Update Complete (7.7.65.12).
    public static let phyUpdateComplete = LESubeventCode(rawValue: 0x0C)
    /// LE Extended Advertising Report (7.7.65.13).
    public static let extendedAdvertisingReport = LESubeventCode(rawValue: 0x0D)
    /// LE Scan Timeout (7.7.65.17).
    public static let scanTimeout = LESubeventCode(rawValue: 0x11)
    /// LE Advertising Set Terminated (7.7.65.18).
    public static let advertisingSetTerminated = LESubeventCode(rawValue: 0x12)
    /// LE Scan Request Received (7.7.65.19).
    public static let scanRequestReceived = LESubeventCode(rawValue: 0x13)
    /// LE Channel Selection Algorithm (7.7.65.20).
    public static let channelSelectionAlgorithm = LESubeventCode(rawValue: 0x14)
    /// LE Periodic Advertising Sync Established [v1] (7.7.65.14).
    public static let periodicAdvertisingSyncEstablished = LESubeventCode(rawValue: 0x0E)
    /// LE Periodic Advertising Report [v1] (7.7.65.15).
    public static let periodicAdvertisingReport = LESubeventCode(rawValue: 0x0F)
    /// LE Periodic Advertising Sync Lost (7.7.65.16).
    public static let periodicAdvertisingSyncLost = LESubeventCode(rawValue: 0x10)
    /// LE Periodic Advertising Sync Transfer Received [v1] (7.7.65.24).
    public static let periodicAdvertisingSyncTransferReceived = LESubeventCode(rawValue: 0x18)
    /// LE Path Loss Threshold (7.7.65.32).
    public static let pathLossThreshold = LESubeventCode(rawValue: 0x20)
    /// LE Transmit Power Reporting (7.7.65.33).
    public static let transmitPowerReporting = LESubeventCode(rawValue: 0x21)
    /// LE Periodic Advertising Sync Established [v2] (7.7.65.14).
    public static let periodicAdvertisingSyncEstablishedV2 = LESubeventCode(rawValue: 0x24)
    /// LE Periodic Advertising Report [v2] (7.7.65.15).
    public static let periodicAdvertisingReportV2 = LESubeventCode(rawValue: 0x25)
    /// LE Periodic Advertising Sync Transfer Received [v2] (7.7.65.24).
    public static let periodicAdvertisingSyncTransferReceivedV2 = LESubeventCode(rawValue: 0x26)
    /// LE Periodic Advertising Subevent Data Request (7.7.65.36).
    public static let periodicAdvertisingSubeventDataRequest = LESubeventCode(rawValue: 0x27)
    /// LE Periodic Advertising Response Report (7.7.65.37).
    public static let periodicAdvertisingResponseReport = LESubeventCode(rawValue: 0x28)
}
