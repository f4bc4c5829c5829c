import BluetoothHCI

/// The features of a controller for periodic advertising.
struct PeriodicFeatures: OptionSet, Hashable, Sendable {
    let rawValue: UInt8

    static let advertising = PeriodicFeatures(rawValue: 1 << 0)
    static let advertisingWithResponses = PeriodicFeatures(rawValue: 1 << 1)
    static let synchronizing = PeriodicFeatures(rawValue: 1 << 2)
    static let responding = PeriodicFeatures(rawValue: 1 << 3)
    /// Transferring synchronizations, or information about own advertising, to a peer.
    static let sendingSyncs = PeriodicFeatures(rawValue: 1 << 4)
    static let receivingSyncs = PeriodicFeatures(rawValue: 1 << 5)
    /// Connecting to a device that listens to a subevent.
    static let connectingInSubevents = PeriodicFeatures(rawValue: 1 << 6)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(_ controller: ControllerInformation) {
        self = []
        let has = controller.features, commands = controller.commands
        guard controller.usesExtendedCommands else { return }
        if has.contains(.periodicAdvertising), Self.advertisingCommands.allSatisfy(commands.contains) {
            insert(.advertising)
            if has.contains(.periodicAdvertisingWithResponsesAdvertiser),
                commands.contains(.leSetPeriodicAdvertisingParametersV2),
                commands.contains(.leSetPeriodicAdvertisingSubeventData)
            {
                insert(.advertisingWithResponses)
                if commands.contains(.leExtendedCreateConnectionV2) { insert(.connectingInSubevents) }
            }
        }
        guard has.contains(.periodicAdvertising) else { return }
        if Self.synchronizingCommands.allSatisfy(commands.contains) {
            insert(.synchronizing)
            if has.contains(.periodicAdvertisingWithResponsesScanner), commands.contains(.leSetPeriodicSyncSubevent),
                commands.contains(.leSetPeriodicAdvertisingResponseData)
            {
                insert(.responding)
            }
        }
        if has.contains(.periodicAdvertisingSyncTransferSender),
            commands.contains(.lePeriodicAdvertisingSyncTransfer)
        {
            insert(.sendingSyncs)
        }
        if has.contains(.periodicAdvertisingSyncTransferRecipient),
            commands.contains(.leSetPeriodicAdvertisingSyncTransferParameters)
        {
            insert(.receivingSyncs)
        }
    }

    private static let advertisingCommands: [HCIOpcode] = [
        .leSetPeriodicAdvertisingParameters, .leSetPeriodicAdvertisingData, .leSetPeriodicAdvertisingEnable,
    ]

    static let synchronizingCommands: [HCIOpcode] = [
        .lePeriodicAdvertisingCreateSync, .lePeriodicAdvertisingCreateSyncCancel, .lePeriodicAdvertisingTerminateSync,
    ]
}

extension LEEventMask {
    /// The events for periodic advertising that a controller with these commands may report. A controller without
    /// support for responses might reject a mask with their events.
    static func periodic(_ commands: SupportedCommands) -> LEEventMask {
        var mask: LEEventMask = []
        if commands.contains(.lePeriodicAdvertisingCreateSync) {
            mask.formUnion([
                .periodicAdvertisingSyncEstablished, .periodicAdvertisingReport, .periodicAdvertisingSyncLost,
            ])
        }
        if commands.contains(.leSetPeriodicAdvertisingSyncTransferParameters) {
            mask.insert(.periodicAdvertisingSyncTransferReceived)
        }
        if commands.contains(.leSetPeriodicSyncSubevent) {
            mask.formUnion([
                .periodicAdvertisingSyncEstablishedV2, .periodicAdvertisingReportV2,
                .periodicAdvertisingSyncTransferReceivedV2,
            ])
        }
        if commands.contains(.leSetPeriodicAdvertisingSubeventData) {
            mask.formUnion([.periodicAdvertisingSubeventDataRequest, .periodicAdvertisingResponseReport])
        }
        return mask
    }
}
