import BluetoothBase

/// The code that says which event a packet carries (Core 5.4, Vol 4, Part E, 7.7).
public struct HCIEventCode: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8

    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let disconnectionComplete = HCIEventCode(rawValue: 0x05)
    public static let encryptionChange = HCIEventCode(rawValue: 0x08)
    public static let readRemoteVersionInformationComplete = HCIEventCode(rawValue: 0x0C)
    public static let commandComplete = HCIEventCode(rawValue: 0x0E)
    public static let commandStatus = HCIEventCode(rawValue: 0x0F)
    public static let hardwareError = HCIEventCode(rawValue: 0x10)
    public static let numberOfCompletedPackets = HCIEventCode(rawValue: 0x13)
    public static let dataBufferOverflow = HCIEventCode(rawValue: 0x1A)
    public static let encryptionKeyRefreshComplete = HCIEventCode(rawValue: 0x30)
    public static let leMeta = HCIEventCode(rawValue: 0x3E)
    public static let encryptionChangeV2 = HCIEventCode(rawValue: 0x59)
}

extension HCIEventCode: CustomStringConvertible {
    /// The name the specification gives to the event, or its number where there is none here.
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

/// The code that says which LE Meta event a packet carries (Core 5.4, Vol 4, Part E, 7.7.65).
public struct LESubeventCode: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8

    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let connectionComplete = LESubeventCode(rawValue: 0x01)
    public static let advertisingReport = LESubeventCode(rawValue: 0x02)
    public static let connectionUpdateComplete = LESubeventCode(rawValue: 0x03)
    public static let readRemoteFeaturesComplete = LESubeventCode(rawValue: 0x04)
    public static let longTermKeyRequest = LESubeventCode(rawValue: 0x05)
    public static let remoteConnectionParameterRequest = LESubeventCode(rawValue: 0x06)
    public static let dataLengthChange = LESubeventCode(rawValue: 0x07)
    public static let enhancedConnectionComplete = LESubeventCode(rawValue: 0x0A)
    public static let directedAdvertisingReport = LESubeventCode(rawValue: 0x0B)
    public static let phyUpdateComplete = LESubeventCode(rawValue: 0x0C)
    public static let extendedAdvertisingReport = LESubeventCode(rawValue: 0x0D)
    public static let scanTimeout = LESubeventCode(rawValue: 0x11)
    public static let advertisingSetTerminated = LESubeventCode(rawValue: 0x12)
    public static let scanRequestReceived = LESubeventCode(rawValue: 0x13)
    public static let channelSelectionAlgorithm = LESubeventCode(rawValue: 0x14)
}

extension LESubeventCode: CustomStringConvertible {
    /// The name the specification gives to the event, or its number where there is none here.
    public var description: String {
        switch self {
        case .connectionComplete: "LE Connection Complete"
        case .advertisingReport: "LE Advertising Report"
        case .connectionUpdateComplete: "LE Connection Update Complete"
        case .readRemoteFeaturesComplete: "LE Read Remote Features Complete"
        case .longTermKeyRequest: "LE Long Term Key Request"
        case .remoteConnectionParameterRequest: "LE Remote Connection Parameter Request"
        case .dataLengthChange: "LE Data Length Change"
        case .enhancedConnectionComplete: "LE Enhanced Connection Complete [v1]"
        case .directedAdvertisingReport: "LE Directed Advertising Report"
        case .phyUpdateComplete: "LE PHY Update Complete"
        case .extendedAdvertisingReport: "LE Extended Advertising Report"
        case .scanTimeout: "LE Scan Timeout"
        case .advertisingSetTerminated: "LE Advertising Set Terminated"
        case .scanRequestReceived: "LE Scan Request Received"
        case .channelSelectionAlgorithm: "LE Channel Selection Algorithm"
        default: "LE Meta event 0x" + hexadecimal(rawValue)
        }
    }
}
