import BluetoothBase

/// An event the controller sends (Core 5.4, Vol 4, Part E, 7.7). A view: it borrows the bytes it was decoded from.
///
/// Parameters beyond those a layout knows are ignored: a later version of the specification may add some.
public enum HCIEvent: ~Escapable {
    case disconnectionComplete(DisconnectionComplete)
    case encryptionChange(EncryptionChange)
    case encryptionChangeV2(EncryptionChangeV2)
    case encryptionKeyRefreshComplete(EncryptionKeyRefreshComplete)
    case readRemoteVersionInformationComplete(ReadRemoteVersionInformationComplete)
    case commandComplete(CommandComplete)
    case commandStatus(CommandStatus)
    case hardwareError(HardwareError)
    case numberOfCompletedPackets(NumberOfCompletedPackets)
    case dataBufferOverflow(DataBufferOverflow)
    case leConnectionComplete(LEConnectionComplete)
    case leAdvertisingReports(LEAdvertisingReports)
    case leConnectionUpdateComplete(LEConnectionUpdateComplete)
    case leReadRemoteFeaturesComplete(LEReadRemoteFeaturesComplete)
    case leLongTermKeyRequest(LELongTermKeyRequest)
    case leRemoteConnectionParameterRequest(LERemoteConnectionParameterRequest)
    case leDataLengthChange(LEDataLengthChange)
    case leEnhancedConnectionComplete(LEEnhancedConnectionComplete)
    case leDirectedAdvertisingReports(LEDirectedAdvertisingReports)
    case lePHYUpdateComplete(LEPHYUpdateComplete)
    case leExtendedAdvertisingReports(LEExtendedAdvertisingReports)
    case leScanTimeout(LEScanTimeout)
    case leAdvertisingSetTerminated(LEAdvertisingSetTerminated)
    case leScanRequestReceived(LEScanRequestReceived)
    case leChannelSelectionAlgorithm(LEChannelSelectionAlgorithm)
    /// An LE Meta event this package has no type for, kept as it came.
    case unknownLE(subeventCode: LESubeventCode, parameters: Span<UInt8>)
    /// An event this package has no type for, kept as it came.
    case unknown(code: HCIEventCode, parameters: Span<UInt8>)

    /// Decodes an event packet without its H4 indicator: event code, length, parameters.
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

    /// Decodes the parameters of an LE Meta event, subevent code first.
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
        default: self = .unknownLE(subeventCode: code, parameters: reader.readRemaining())
        }
    }
}
