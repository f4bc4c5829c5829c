import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import BluetoothHost
import Testing

/// "A host should not issue both legacy and extended commands" (Core 5.4, Vol 4, Part E, 3.1.1).
@Suite("Legacy and extended commands")
struct CommandKindTests {
    static let legacy: Set<HCIOpcode> = [
        .leSetAdvertisingParameters, .leReadAdvertisingPhysicalChannelTxPower, .leSetAdvertisingData,
        .leSetScanResponseData, .leSetAdvertisingEnable, .leSetScanParameters, .leSetScanEnable, .leCreateConnection,
    ]
    static let extended: Set<HCIOpcode> = [
        .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData,
        .leSetExtendedScanResponseData, .leSetExtendedAdvertisingEnable, .leReadMaximumAdvertisingDataLength,
        .leReadNumberOfSupportedAdvertisingSets, .leRemoveAdvertisingSet, .leClearAdvertisingSets,
        .leSetExtendedScanParameters, .leSetExtendedScanEnable, .leExtendedCreateConnection,
    ]

    /// Lets a host do everything it can do on the air, and returns what it has sent.
    static func everything(on controller: ScriptedController) throws -> Set<HCIOpcode> {
        var controller = controller
        let peers = (1...3).map { PeerID(DeviceAddress($0, kind: .public)) }
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        try controller.host.startAdvertising(
            AdvertisingParameters(data: [2, 1, 6], scanResponse: [2, 10, 0]), at: controller.now)
        controller.settle()
        let attempts = try peers.map { try controller.host.connect(to: $0, timeout: nil, at: controller.now) }
        controller.settle()
        controller.host.stopScanning(at: controller.now)
        controller.settle()
        for attempt in attempts { controller.host.cancelConnecting(attempt, at: controller.now) }
        controller.settle()
        try controller.host.startAdvertising(
            AdvertisingParameters(isConnectable: false, data: []), at: controller.now)
        controller.settle()
        controller.host.stopAdvertising(at: controller.now)
        controller.settle()
        return Set(controller.takeOpcodes())
    }

    @Test("if the controller supports all extended commands, the host uses no legacy ones")
    func extendedOnly() throws {
        let sent = try Self.everything(on: .extended())
        #expect(sent.isDisjoint(with: Self.legacy))
        #expect(
            sent.isSuperset(of: [
                .leSetExtendedAdvertisingEnable, .leSetExtendedScanEnable, .leExtendedCreateConnection,
            ]))
    }

    /// Which octet and bit of the supported commands a controller lacks; none for one that lacks the feature.
    static let incomplete: [(String, octet: Int, bit: Int)] = [
        ("the feature", 0, -1), ("LE Set Extended Advertising Enable", 36, 5), ("LE Set Extended Scan Enable", 37, 6),
        ("LE Extended Create Connection", 37, 7), ("LE Read Number Of Supported Advertising Sets", 36, 7),
    ]

    @Test("if an extended command or the feature is missing, the host uses legacy commands only", arguments: incomplete)
    func legacyOnly(_ missing: String, _ octet: Int, _ bit: Int) throws {
        var commands = [UInt8](repeating: 0xFF, count: 64)
        if bit >= 0 { commands[octet] &= ~(1 << bit) }
        let controller = ScriptedController.extended(
            features: [0x08, bit < 0 ? 0x09 : 0x19, 0, 0, 0, 0, 0, 0],
            [.readLocalSupportedCommands: .complete(.success, commands)])
        #expect(controller.host.controller?.usesExtendedCommands == false)
        #expect(controller.host.controller?.maximumAdvertisingDataLength == 31)
        let sent = try Self.everything(on: controller)
        #expect(sent.isDisjoint(with: Self.extended))
        #expect(
            sent.isSuperset(of: [.leSetAdvertisingEnable, .leSetScanEnable, .leCreateConnection]))
    }

    @Test("Vol 4, Part E, 7.8.66: every octet of a connection command, on LE 1M and on both primary PHYs")
    func connecting() throws {
        var controller = ScriptedController.extended()
        let attempt = try controller.host.connect(
            to: PeerID(ScriptedController.peer), timeout: nil, at: controller.now)
        controller.settle()
        let parameters = "0c00180000009001" + "00000000"
        #expect(
            controller.takeCommands() == [
                "LE Extended Create Connection: 000000010000eeffc003" + "60006000" + parameters + "60006000"
                    + parameters
            ])
        controller.host.cancelConnecting(attempt, at: controller.now)
        controller.settle()
        controller.reportConnection(0, status: .unknownConnectionIdentifier)
        _ = try controller.host.connect(
            to: PeerID(ScriptedController.peer), timeout: nil, by: .advertising([.le1M, .leCoded]), at: controller.now)
        controller.settle()
        let half = "60003000" + parameters
        #expect(
            controller.takeCommands().last
                == "LE Extended Create Connection: 000000010000eeffc007" + half + half + half)
    }

    @Test("Vol 4, Part E, 7.8.64: every octet of the scan commands, on LE 1M, on LE Coded and on both")
    func scanning() throws {
        var controller = ScriptedController.extended()
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        controller.settle()
        try controller.host.startScanning(
            ScanParameters(isActive: false, reportsDuplicates: false, phys: .leCoded), at: controller.now)
        controller.settle()
        try controller.host.startScanning(ScanParameters(phys: [.le1M, .leCoded]), at: controller.now)
        controller.settle()
        #expect(
            controller.takeCommands() == [
                "LE Set Extended Scan Parameters: 0000010160006000", "LE Set Extended Scan Enable: 010000000000",
                "LE Set Extended Scan Enable: 000000000000",
                "LE Set Extended Scan Parameters: 0000040060006000", "LE Set Extended Scan Enable: 010100000000",
                "LE Set Extended Scan Enable: 000000000000",
                "LE Set Extended Scan Parameters: 00000501600030000160003000",
                "LE Set Extended Scan Enable: 010000000000",
            ])
    }

    @Test("LE Coded requires a controller that supports it") func coded() throws {
        for controller in [ScriptedController.ready(), .extended(features: [0x08, 0x11, 0, 0, 0, 0, 0, 0])] {
            var controller = controller
            #expect(throws: HostError.unsupported(.leCoded)) {
                try controller.host.startScanning(ScanParameters(phys: [.le1M, .leCoded]), at: controller.now)
            }
            #expect(throws: HostError.unsupported(.leCoded)) {
                try controller.host.connect(
                    to: PeerID(ScriptedController.peer), timeout: nil, by: .advertising(.leCoded), at: controller.now)
            }
        }
    }
}
