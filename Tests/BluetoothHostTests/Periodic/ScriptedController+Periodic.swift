import BluetoothBase
import BluetoothHCI
import BluetoothHost

extension ScriptedController {
    /// What a controller with periodic advertising, responses and transfers says of its LE features.
    static let periodicFeatures: [UInt8] = [0x08, 0x39, 0, 0x03, 0x10, 0x18, 0, 0]

    /// A host whose controller has all of periodic advertising.
    static func periodic(
        features: [UInt8] = periodicFeatures, _ answers: [HCIOpcode: Answer] = [:],
        _ configure: (inout HostConfiguration) -> Void = { _ in }
    ) -> ScriptedController {
        extended(
            features: features,
            [
                .lePeriodicAdvertisingCreateSync: .status(.success),
                .leSetPeriodicAdvertisingParametersV2: .complete(.success, [0]),
                .leSetPeriodicAdvertisingSubeventData: .complete(.success, [0]),
                .leSetPeriodicSyncSubevent: .complete(.success, [0x20, 0]),
                .leSetPeriodicAdvertisingResponseData: .complete(.success, [0x20, 0]),
                .lePeriodicAdvertisingSyncTransfer: .complete(.success, [0x40, 0]),
                .lePeriodicAdvertisingSetInfoTransfer: .complete(.success, [0x40, 0]),
                .leSetPeriodicAdvertisingSyncTransferParameters: .complete(.success, [0x40, 0]),
            ].merging(answers) { $1 }, configure)
    }

    /// A set of `peer`, number 5.
    static let advertiser = PeriodicAdvertiser(peer: PeerID(peer), sid: 5)

    /// LE Periodic Advertising Sync Established for set 5 of `peer` on LE 2M, every 100 ms: form [v2] where there are
    /// responses, of two subevents every 25 ms with slots of 1 ms after 10 ms.
    mutating func reportSync(
        _ status: HCIStatus = .success, handle: UInt8 = 0x20, hasResponses: Bool = false, sid: UInt8 = 5
    ) {
        let head: [UInt8] = [status.rawValue, handle, 0, sid, 0] + [0x01, 0, 0, 0xEE, 0xFF, 0xC0] + [2, 0x50, 0, 7]
        receive(
            hasResponses
                ? [0x04, 0x3E, 20, 0x24] + head + [2, 20, 8, 8] : [0x04, 0x3E, 16, 0x0E] + head)
    }

    /// LE Periodic Advertising Report [v1], of which more may follow.
    mutating func reportPeriodic(_ data: [UInt8], status: UInt8 = 0, handle: UInt8 = 0x20) {
        receive(
            [0x04, 0x3E, UInt8(8 + data.count), 0x0F, handle, 0, 0x7F, 0xC4, 0xFF, status, UInt8(data.count)] + data)
    }

    /// LE Periodic Advertising Report [v2], of event 0x0102.
    mutating func reportSubevent(_ subevent: UInt8, _ data: [UInt8], status: UInt8 = 0) {
        let head: [UInt8] = [0x25, 0x20, 0, 0x7F, 0xC4, 0xFF, 0x02, 0x01, subevent, status, UInt8(data.count)]
        receive([0x04, 0x3E, UInt8(11 + data.count)] + head + data)
    }

    /// Synchronizes to `advertiser`, and forgets what was said about it.
    mutating func synchronize(hasResponses: Bool = false) throws -> PeriodicSyncIdentifier {
        let sync = try host.synchronize(with: [Self.advertiser], at: now)
        settle()
        reportSync(hasResponses: hasResponses)
        commands.removeAll()
        seen.removeAll()
        return sync
    }

    /// The commands since the last call that are about periodic advertising.
    mutating func takePeriodicCommands() -> [String] {
        takeCommands().filter { $0.contains("Periodic") }
    }
}
