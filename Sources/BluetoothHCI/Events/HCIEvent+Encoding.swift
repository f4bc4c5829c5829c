import BluetoothBase

extension HCIEvent {
    /// Appends the complete packet, starting with its H4 indicator (Core 5.4, Vol 4, Part E, 5.4.4).
    public func encodePacket(into writer: inout ByteWriter) {
        switch self {
        case .disconnectionComplete(let body): body.encodePacket(into: &writer)
        case .encryptionChange(let body): body.encodePacket(into: &writer)
        case .encryptionChangeV2(let body): body.encodePacket(into: &writer)
        case .encryptionKeyRefreshComplete(let body): body.encodePacket(into: &writer)
        case .readRemoteVersionInformationComplete(let body): body.encodePacket(into: &writer)
        case .commandComplete(let body): body.encodePacket(into: &writer)
        case .commandStatus(let body): body.encodePacket(into: &writer)
        case .hardwareError(let body): body.encodePacket(into: &writer)
        case .numberOfCompletedPackets(let body): body.encodePacket(into: &writer)
        case .dataBufferOverflow(let body): body.encodePacket(into: &writer)
        case .leConnectionComplete(let body): body.encodePacket(into: &writer)
        case .leAdvertisingReports(let body): body.encodePacket(into: &writer)
        case .leConnectionUpdateComplete(let body): body.encodePacket(into: &writer)
        case .leReadRemoteFeaturesComplete(let body): body.encodePacket(into: &writer)
        case .leLongTermKeyRequest(let body): body.encodePacket(into: &writer)
        case .leRemoteConnectionParameterRequest(let body): body.encodePacket(into: &writer)
        case .leDataLengthChange(let body): body.encodePacket(into: &writer)
        case .leEnhancedConnectionComplete(let body): body.encodePacket(into: &writer)
        case .leDirectedAdvertisingReports(let body): body.encodePacket(into: &writer)
        case .lePHYUpdateComplete(let body): body.encodePacket(into: &writer)
        case .leExtendedAdvertisingReports(let body): body.encodePacket(into: &writer)
        case .leScanTimeout(let body): body.encodePacket(into: &writer)
        case .leAdvertisingSetTerminated(let body): body.encodePacket(into: &writer)
        case .leScanRequestReceived(let body): body.encodePacket(into: &writer)
        case .leChannelSelectionAlgorithm(let body): body.encodePacket(into: &writer)
        case .lePeriodicAdvertisingSyncEstablished(let body): body.encodePacket(into: &writer)
        case .lePeriodicAdvertisingReport(let body): body.encodePacket(into: &writer)
        case .lePeriodicAdvertisingSyncLost(let body): body.encodePacket(into: &writer)
        case .lePeriodicAdvertisingSyncTransferReceived(let body): body.encodePacket(into: &writer)
        case .lePathLossThreshold(let body): body.encodePacket(into: &writer)
        case .leTransmitPowerReporting(let body): body.encodePacket(into: &writer)
        case .lePeriodicAdvertisingSyncEstablishedV2(let body): body.encodePacket(into: &writer)
        case .lePeriodicAdvertisingSyncTransferReceivedV2(let body): body.encodePacket(into: &writer)
        case .lePeriodicAdvertisingSubeventDataRequest(let body): body.encodePacket(into: &writer)
        case .lePeriodicAdvertisingResponseReports(let body): body.encodePacket(into: &writer)
        case .unknownLE(let subeventCode, let parameters):
            writer.append(HCIPacketType.event.rawValue)
            writer.append(HCIEventCode.leMeta.rawValue)
            writer.append(UInt8(truncatingIfNeeded: parameters.count + 1))
            writer.append(subeventCode.rawValue)
            writer.append(parameters)
        case .unknown(let code, let parameters):
            writer.append(HCIPacketType.event.rawValue)
            writer.append(code.rawValue)
            writer.append(UInt8(truncatingIfNeeded: parameters.count))
            writer.append(parameters)
        }
    }
}
