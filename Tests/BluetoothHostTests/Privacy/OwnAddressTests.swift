import BluetoothATT
import BluetoothBase
import BluetoothCrypto
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothSMP
import TestSupport
import Testing

@Suite("The private address of this host")
struct OwnAddressTests {
    private static func ready() -> ScriptedController {
        ScriptedController.ready {
            $0.security = SecurityConfiguration(
                crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 1), resolvingKey: 1)
            $0.privacy = .resolvable()
        }
    }

    private static func restoreBond(_ controller: inout ScriptedController) {
        var bond = Bond(
            peer: PeerID(ScriptedController.peer), address: ScriptedController.peer,
            strength: KeyStrength(model: .justWorks, usesSecureConnections: true, keySize: 16))
        bond.centralKey = LongTermKey(key: 1)
        controller.host.restore(bond, at: controller.now)
        controller.settle()
    }

    @Test(
        "The address of a link that could not be encrypted is not used again (Vol 3, Part C, 10.6)",
        arguments: LinkRole.allCases)
    func encryptionFails(_ role: LinkRole) throws {
        var controller = Self.ready()
        Self.restoreBond(&controller)
        let address = try #require(controller.host.privateAddress)
        if role == .central {
            _ = try controller.connect()
            controller.receive(
                EncryptionChange(status: .pinOrKeyMissing, connectionHandle: 0x40, encryption: .off))
        } else {
            _ = try controller.accept()
            // The second request comes from the same link, which is not made under the new address.
            for _ in 0..<2 {
                controller.receive(
                    LELongTermKeyRequest(connectionHandle: 0x41, randomNumber: 1, encryptedDiversifier: 1))
            }
        }
        let renewed = try #require(controller.host.privateAddress)
        #expect(renewed != address && renewed.randomKind == .resolvablePrivate)
        #expect(controller.takeOpcodes().filter { $0 == .leSetRandomAddress }.count == 1)
    }

    @Test("Encrypting a link does not change the address")
    func encryptionSucceeds() throws {
        var controller = Self.ready()
        Self.restoreBond(&controller)
        let address = try #require(controller.host.privateAddress)
        _ = try controller.connect()
        controller.receive(EncryptionChange(status: .success, connectionHandle: 0x40, encryption: .on))
        #expect(controller.host.privateAddress == address)
    }

    @Test("A host without security ignores a resolving key, and keeps its address")
    func keyOfNobody() throws {
        var controller = ScriptedController.ready { $0.privacy = .nonResolvable() }
        let address = try #require(controller.host.privateAddress)
        controller.host.setResolvingKey(5, at: controller.now)
        try controller.host.startAdvertising(
            AdvertisingParameters(isConnectable: false, data: []), at: controller.now)
        controller.settle()
        #expect(!controller.takeOpcodes().contains(.leSetRandomAddress))
        #expect(controller.host.privateAddress == address)
    }

    @Test("No private address is made from a resolving key of zero, and one is once there is a key")
    func keyOfZero() {
        var controller = ScriptedController {
            $0.security = SecurityConfiguration(
                crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 1), resolvingKey: 0)
            $0.privacy = .resolvable()
        }
        controller.start()
        #expect(!controller.takeOpcodes().contains(.leSetRandomAddress))
        #expect(controller.host.privateAddress == nil)
        controller.host.setResolvingKey(1, at: controller.now)
        controller.settle()
        #expect(controller.takeOpcodes().contains(.leSetRandomAddress))
        #expect(controller.host.privateAddress?.randomKind == .resolvablePrivate)
    }

    @Test("If Central Address Resolution was removed, the attribute that now has its handle is not changed")
    func removedCharacteristic() throws {
        var controller = Self.ready()
        try controller.host.removeService(1, at: controller.now)
        let handles = try controller.host.addService(
            GATTServiceDefinition(
                uuid: "F200",
                characteristics: (0..<4).map { _ in
                    .init(uuid: "F201", properties: .read, value: .fixedLength([5]))
                }), handle: 1, at: controller.now)
        controller.host.controllerLost(at: controller.now)
        controller.start()
        for characteristic in handles.characteristics {
            #expect(controller.host.server.database.value(of: characteristic.value) == [5])
        }
    }
}
