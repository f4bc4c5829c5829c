import BluetoothBase

/// An event that the controller sends (Core 5.4, Vol 4, Part E, 7.7). A view: it borrows the bytes it was decoded from.
///
/// Additional parameters are ignored, because later versions of the specification may add some.
public enum HCIEvent: ~Escapable {
    /// Disconnection Complete (7.7.5).
    case disconnectionComplete(DisconnectionComplete)
    /// Encryption Change [v1] (7.7.8).
    case encryptionChange(EncryptionChange)
    /// Encryption Change [v2] (7.7.8).
    case encryptionChangeV2(EncryptionChangeV2)
    /// Encryption Key Refresh Complete (7.7.39).
    case encryptionKeyRefreshComplete(EncryptionKeyRefreshComplete)
    /// Read Remote Version Information Complete (7.7.12).
    case readRemoteVersionInformationComplete(ReadRemoteVersionInformationComplete)
    /// Command Complete (7.7.14).
    case commandComplete(CommandComplete)
    /// Command Status (7.7.15).
    case commandStatus(CommandStatus)
    /// Hardware Error (7.7.16).
    case hardwareError(HardwareError)
    /// Number Of Completed Packets (7.7.19).
    case numberOfCompletedPackets(NumberOfCompletedPackets)
    /// Data Buffer Overflow (7.7.26).
    case dataBufferOverflow(DataBufferOverflow)
    /// LE Connection Complete (7.7.65.1).
    case leConnectionComplete(LEConnectionComplete)
    /// LE Advertising Report (7.7.65.2).
    case leAdvertisingReports(LEAdvertisingReports)
    /// LE Connection Update Complete (7.7.65.3).
    case leConnectionUpdateComplete(LEConnectionUpdateComplete)
    /// LE Read Remote Features Complete (7.7.65.4).
    case leReadRemoteFeaturesComplete(LEReadRemoteFeaturesComplete)
    /// LE Long Term Key Request (7.7.65.5).
    case leLongTermKeyRequest(LELongTermKeyRequest)
    /// LE Remote Connection Parameter Request (7.7.65.6).
    case leRemoteConnectionParameterRequest(LERemoteConnectionParameterRequest)
    /// LE Data Length Change (7.7.65.7).
    case leDataLengthChange(LEDataLengthChange)
    /// LE Enhanced Connection Complete [v1] (7.7.65.10).
    case leEnhancedConnectionComplete(LEEnhancedConnectionComplete)
    /// LE Directed Advertising Report (7.7.65.11).
    case leDirectedAdvertisingReports(LEDirectedAdvertisingReports)
    /// LE PHY Update Complete (7.7.65.12).
    case lePHYUpdateComplete(LEPHYUpdateComplete)
    /// LE Extended Advertising Report (7.7.65.13).
    case leExtendedAdvertisingReports(LEExtendedAdvertisingReports)
    /// LE Scan Timeout (7.7.65.17).
    case leScanTimeout(LEScanTimeout)
    /// LE Advertising Set Terminated (7.7.65.18).
    case leAdvertisingSetTerminated(LEAdvertisingSetTerminated)
    /// LE Scan Request Received (7.7.65.19).
    case leScanRequestReceived(LEScanRequestReceived)
    /// LE Channel Selection Algorithm (7.7.65.20).
    case leChannelSelectionAlgorithm(LEChannelSelectionAlgorithm)
    /// LE Periodic Advertising Sync Established [v1] (7.7.65.14).
    case lePeriodicAdvertisingSyncEstablished(LEPeriodicAdvertisingSyncEstablished)
    /// LE Periodic Advertising Report [v1] or [v2] (7.7.65.15).
    case lePeriodicAdvertisingReport(LEPeriodicAdvertisingReport)
    /// LE Periodic Advertising Sync Lost (7.7.65.16).
    case lePeriodicAdvertisingSyncLost(LEPeriodicAdvertisingSyncLost)
    /// LE Periodic Advertising Sync Transfer Received [v1] (7.7.65.24).
    case lePeriodicAdvertisingSyncTransferReceived(LEPeriodicAdvertisingSyncTransferReceived)
    /// LE Path Loss Threshold (7.7.65.32).
    case lePathLossThreshold(LEPathLossThreshold)
    /// LE Transmit Power Reporting (7.7.65.33).
    case leTransmitPowerReporting(LETransmitPowerReporting)
    /// LE Periodic Advertising Sync Established [v2] (7.7.65.14).
    case lePeriodicAdvertisingSyncEstablishedV2(LEPeriodicAdvertisingSyncEstablishedV2)
    /// LE Periodic Advertising Sync Transfer Received [v2] (7.7.65.24).
    case lePeriodicAdvertisingSyncTransferReceivedV2(LEPeriodicAdvertisingSyncTransferReceivedV2)
    /// LE Periodic Advertising Subevent Data Request (7.7.65.36).
    case lePeriodicAdvertisingSubeventDataRequest(LEPeriodicAdvertisingSubeventDataRequest)
    /// LE Periodic Advertising Response Report (7.7.65.37).
    case lePeriodicAdvertisingResponseReports(LEPeriodicAdvertisingResponseReports)
    /// An LE Meta event without a type in this package, kept unchanged.
    case unknownLE(subeventCode: LESubeventCode, parameters: Span<UInt8>)
    /// An event without a type in this package, kept unchanged.
    case unknown(code: HCIEventCode, parameters: Span<UInt8>)

    /// Decodes an event packet, without its H4 indicator: event code, length and parameters.
    @_lifetime(copy packet)
    public init(decoding packet: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(packet)
        let code = HCIEventCode(rawValue: try reader.readUInt8())
        let length = Int(try reader.readUInt8())
        guard length == reader.remaining else { throw DecodingFailure(.invalidLength, at: 1) }
        switch code {
        case .disconnectionComplete: self = .disconnectionComplete(try .init(decoding: &reader))
        case .encryptionChange: self = .encryptionChange(try .init(decoding: &reader))
        case .encryptionChangeV2: self = .encryptionChangeV2(try .init(decoding: &reader))
        case .encryptionKeyRefreshComplete: self = .encryptionKeyRefreshComplete(try .init(decoding: &reader))
        case .readRemoteVersionInformationComplete:
            self = .readRemoteVersionInformationComplete(try .init(decoding: &reader))
        case .commandComplete: self = .commandComplete(try CommandComplete(decoding: reader))
        case .commandStatus: self = .commandStatus(try .init(decoding: &reader))
        case .hardwareError: self = .hardwareError(try .init(decoding: &reader))
        case .numberOfCompletedPackets:
            self = .numberOfCompletedPackets(try NumberOfCompletedPackets(decoding: reader))
        case .dataBufferOverflow: self = .dataBufferOverflow(try .init(decoding: &reader))
        case .leMeta: self = try HCIEvent(decodingLE: reader)
        default: self = .unknown(code: code, parameters: reader.readRemaining())
        }
    }

    /// Decodes the parameters of an LE Meta event, starting with the subevent code.
    @inline(__always)
    @_lifetime(copy parameters)
    private init(decodingLE parameters: consuming ByteReader) throws(DecodingFailure) {
        var reader = parameters
        let code = LESubeventCode(rawValue: try reader.readUInt8())
        switch code {
        case .connectionComplete: self = .leConnectionComplete(try .init(decoding: &reader))
        case .advertisingReport: self = .leAdvertisingReports(try LEAdvertisingReports(decoding: reader))
        case .connectionUpdateComplete: self = .leConnectionUpdateComplete(try .init(decoding: &reader))
        case .readRemoteFeaturesComplete: self = .leReadRemoteFeaturesComplete(try .init(decoding: &reader))
        case .longTermKeyRequest: self = .leLongTermKeyRequest(try .init(decoding: &reader))
        case .remoteConnectionParameterRequest:
            self = .leRemoteConnectionParameterRequest(try .init(decoding: &reader))
        case .dataLengthChange: self = .leDataLengthChange(try .init(decoding: &reader))
        case .enhancedConnectionComplete: self = .leEnhancedConnectionComplete(try .init(decoding: &reader))
        case .directedAdvertisingReport:
            self = .leDirectedAdvertisingReports(try LEDirectedAdvertisingReports(decoding: reader))
        case .phyUpdateComplete: self = .lePHYUpdateComplete(try .init(decoding: &reader))
        case .extendedAdvertisingReport:
            self = .leExtendedAdvertisingReports(try LEExtendedAdvertisingReports(decoding: reader))
        case .scanTimeout: self = .leScanTimeout(LEScanTimeout())
        case .advertisingSetTerminated: self = .leAdvertisingSetTerminated(try .init(decoding: &reader))
        case .scanRequestReceived: self = .leScanRequestReceived(try .init(decoding: &reader))
        case .channelSelectionAlgorithm: self = .leChannelSelectionAlgorithm(try .init(decoding: &reader))
        case .periodicAdvertisingSyncEstablished:
            self = .lePeriodicAdvertisingSyncEstablished(try .init(decoding: &reader))
        case .periodicAdvertisingReport, .periodicAdvertisingReportV2:
            let hasSubevent = code == .periodicAdvertisingReportV2
            self = .lePeriodicAdvertisingReport(
                try LEPeriodicAdvertisingReport(decoding: reader, hasSubevent: hasSubevent))
        case .periodicAdvertisingSyncLost: self = .lePeriodicAdvertisingSyncLost(try .init(decoding: &reader))
        case .periodicAdvertisingSyncTransferReceived:
            self = .lePeriodicAdvertisingSyncTransferReceived(try .init(decoding: &reader))
        case .pathLossThreshold: self = .lePathLossThreshold(try .init(decoding: &reader))
        case .transmitPowerReporting: self = .leTransmitPowerReporting(try .init(decoding: &reader))
        case .periodicAdvertisingSyncEstablishedV2:
            self = .lePeriodicAdvertisingSyncEstablishedV2(try .init(decoding: &reader))
        case .periodicAdvertisingSyncTransferReceivedV2:
            self = .lePeriodicAdvertisingSyncTransferReceivedV2(try .init(decoding: &reader))
        case .periodicAdvertisingSubeventDataRequest:
            self = .lePeriodicAdvertisingSubeventDataRequest(try .init(decoding: &reader))
        case .periodicAdvertisingResponseReport:
            self = .lePeriodicAdvertisingResponseReports(try LEPeriodicAdvertisingResponseReports(decoding: reader))
        default: self = .unknownLE(subeventCode: code, parameters: reader.readRemaining())
        }
    }
}
