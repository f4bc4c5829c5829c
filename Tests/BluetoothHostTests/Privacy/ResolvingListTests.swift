import BluetoothBase
import BluetoothHCI
import BluetoothSMP
import BluetoothSimulation
import Testing
import VirtualRadio

@testable import BluetoothHost

@Suite("Bonds in the controller's resolving list")
struct ResolvingListTests {
    typealias Answers = [HCIOpcode: ScriptedController.Answer]

    /// A bond with the peer of this number, whose key is `100 + number`.
    private func bond(_ number: UInt64, key: UInt128? = nil) -> Bond {
        let address = DeviceAddress(0xC0_00_00_00_00_00 | number, kind: .random)
        return Bond(
            peer: PeerID(address), address: address,
            identity: DeviceIdentity(address: address, resolvingKey: key ?? UInt128(100 + number)),
            strength: KeyStrength(model: .justWorks, usesSecureConnections: true, keySize: 16))
    }

    private func ready(
        _ answers: Answers = [:], size: UInt8 = 2, _ configure: (inout HostConfiguration) -> Void = { _ in }
    ) -> ScriptedController {
        var merged: Answers = [
            .readLocalSupportedCommands: .complete(.success, Array(repeating: 0xFF, count: 64)),
            .leReadLocalSupportedFeatures: .complete(.success, [0x40, 0, 0, 0, 0, 0, 0, 0]),
            .leReadResolvingListSize: .complete(.success, [size]),
        ]
        merged.merge(answers) { $1 }
        return ScriptedController.ready(merged) {
            $0.security = SecurityConfiguration(
                crypto: HostWorld.crypto, entropy: SeededGenerator(seed: 1), resolvingKey: 0x0A)
            configure(&$0)
        }
    }

    private func octets(_ address: UInt8, _ rest: [UInt8] = []) -> [UInt8] { [1, address, 0, 0, 0, 0, 0xC0] + rest }

    private func key(_ value: UInt8) -> [UInt8] { [value] + Array(repeating: 0, count: 15) }

    @Test("A bond is added with both keys and device privacy mode, and resolution is enabled")
    func added() {
        var controller = ready()
        controller.host.restore(bond(1), at: controller.now)
        controller.settle()
        #expect(
            controller.commands == [
                .init(opcode: .leAddDeviceToResolvingList, parameters: octets(1, key(101) + key(0x0A))),
                .init(opcode: .leSetPrivacyMode, parameters: octets(1, [1])),
                .init(opcode: .leSetAddressResolutionEnable, parameters: [1]),
            ])
        controller.commands.removeAll()
        controller.host.removeBond(with: bond(1).peer, at: controller.now)
        controller.settle()
        #expect(controller.commands == [.init(opcode: .leRemoveDeviceFromResolvingList, parameters: octets(1))])
    }

    @Test("An identity counts as listed only with the same address and key")
    func listed() throws {
        var controller = ready()
        controller.host.restore(bond(1), at: controller.now)
        controller.settle()
        let identity = try #require(bond(1).identity), other = try #require(bond(2).identity)
        #expect(controller.host.privacy.isListed(identity))
        for (address, key) in [
            (identity.address, other.resolvingKey), (other.address, identity.resolvingKey),
        ] {
            #expect(!controller.host.privacy.isListed(DeviceIdentity(address: address, resolvingKey: key)))
        }
    }

    @Test("In network privacy mode, the controller's default, no mode is set")
    func networkMode() {
        var controller = ready { $0.peerPrivacyMode = .network }
        controller.host.restore(bond(1), at: controller.now)
        controller.settle()
        #expect(controller.takeOpcodes() == [.leAddDeviceToResolvingList, .leSetAddressResolutionEnable])
    }

    @Test("If the list is too small, the newest bonds are listed; bonds without a key never are")
    func bounded() {
        var controller = ready { $0.peerPrivacyMode = .network }
        controller.host.restore(bond(1, key: 0), at: controller.now)
        #expect(controller.takeOpcodes() == [])
        for number in 2...4 as ClosedRange<UInt64> {
            controller.host.restore(bond(number), at: controller.now)
            controller.settle()
        }
        #expect(
            controller.commands.filter { $0.opcode != .leSetAddressResolutionEnable }.map { $0.parameters[1] } == [
                2, 3, 2, 4,
            ])
        #expect(controller.commands[3].opcode == .leRemoveDeviceFromResolvingList)
    }

    @Test("A device that claims the key of an older bond is not listed")
    func claimed() {
        var controller = ready { $0.peerPrivacyMode = .network }
        controller.host.restore(bond(1), at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        controller.host.restore(bond(2, key: 101), at: controller.now)
        controller.settle()
        #expect(controller.commands == [])
    }

    @Test("Scanning and advertising pause for a change of the list, and resume")
    func pause() throws {
        var controller = ready { $0.peerPrivacyMode = .network }
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        try controller.host.startAdvertising(AdvertisingParameters(data: []), at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        controller.host.restore(bond(1), at: controller.now)
        controller.settle()
        let opcodes = controller.commands.map(\.opcode)
        let change = try #require(opcodes.firstIndex(of: .leAddDeviceToResolvingList))
        #expect(Set(opcodes[..<change]) == [.leSetScanEnable, .leSetAdvertisingEnable])
        #expect(opcodes[change + 1] == .leSetAddressResolutionEnable)
        #expect(opcodes.suffix(from: change + 2).count { $0 == .leSetScanEnable || $0 == .leSetAdvertisingEnable } == 2)
        #expect(controller.takeEvents() == ["advertising"], "the caller learns nothing of it")
    }

    static let refusals: [(HCIOpcode, then: [HCIOpcode])] = [
        (.leAddDeviceToResolvingList, []), (.leSetPrivacyMode, [.leSetPrivacyMode, .leSetAddressResolutionEnable]),
        (.leSetAddressResolutionEnable, [.leSetPrivacyMode, .leSetAddressResolutionEnable]),
    ]

    @Test(
        "A controller that refuses a list command is not asked again, and the host searches for peers if it must",
        arguments: refusals)
    func refused(_ opcode: HCIOpcode, _ then: [HCIOpcode]) throws {
        var controller = ready([opcode: .complete(.commandDisallowed)])
        controller.host.restore(bond(1), at: controller.now)
        controller.settle()
        #expect(controller.takeOpcodes() == [.leAddDeviceToResolvingList] + then)
        _ = try controller.host.connect(to: bond(1).peer, timeout: .seconds(1), at: controller.now)
        controller.settle()
        let first: HCIOpcode = opcode == .leSetPrivacyMode ? .leCreateConnection : .leSetScanParameters
        #expect(controller.takeOpcodes().first == first)
        controller.run(for: .seconds(5))
        #expect(!controller.isStuck)
    }

    @Test("A search that the controller refuses is retried with increasing delays")
    func refusedSearch() throws {
        var controller = ready([.leSetScanParameters: .complete(.invalidCommandParameters)], size: 0)
        controller.host.restore(bond(1), at: controller.now)
        _ = try controller.host.connect(to: bond(1).peer, timeout: .seconds(60), at: controller.now)
        controller.run(for: .seconds(59))
        #expect((5...20).contains(controller.takeOpcodes().count { $0 == .leSetScanParameters }))
        controller.run(for: .seconds(2))
        #expect(controller.takeEvents() == ["connection failed: \(HostError.timedOut)"])
        controller.run(for: .seconds(60))
        #expect(controller.takeOpcodes() == [] && !controller.isStuck)
    }

    @Test("A private address that the controller refuses is set again, and nothing else is sent meanwhile")
    func refusedAddress() throws {
        var controller = ready([.leSetRandomAddress: .complete(.commandDisallowed)]) {
            $0.privacy = .resolvable(rotation: .seconds(60))
        }
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        controller.run(for: .seconds(3))
        #expect(controller.takeOpcodes() == [.leSetRandomAddress, .leSetRandomAddress, .leSetRandomAddress])
        controller.answers[.leSetRandomAddress] = .complete(.success)
        controller.run(for: .seconds(1))
        #expect(controller.takeOpcodes() == [.leSetRandomAddress, .leSetScanParameters, .leSetScanEnable])
        #expect(controller.host.privateAddress?.randomKind == .resolvablePrivate)
    }
}
