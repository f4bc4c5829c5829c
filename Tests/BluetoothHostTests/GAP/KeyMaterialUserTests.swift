import BluetoothATT
import BluetoothBase
import BluetoothCrypto
import BluetoothGATT
import BluetoothHCI
import BluetoothSMP
import TestSupport
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers

@Suite("GAP: the user that answers requests for key material")
struct KeyMaterialUserTests {
    private let first = UserID(number: 1), second = UserID(number: 2)

    @Test("The user that offered to answer is asked, even if another user declines to")
    func asked() {
        var configuration = HostConfiguration(seed: 7)
        configuration.genericAccess = GenericAccessTests.access()
        configuration.security = SecurityConfiguration(
            crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 1), resolvingKey: 1)
        var scene = SharedScene(users: first, second, configuration: configuration)
        scene.restore(
            SecurityTests.bond(KeyStrength(model: .passkeyEntry, usesSecureConnections: true, keySize: 16)))
        scene.accept(0x41, from: ScriptedController.peer, for: first)
        scene.receive(LELongTermKeyRequest(connectionHandle: 0x41, randomNumber: 0, encryptedDiversifier: 0))
        scene.reportEncryption(0x41)
        scene.perform(.answerKeyMaterialRequests(true), 1, of: first)
        // It never was this one's.
        scene.perform(.answerKeyMaterialRequests(false), 2, of: second)
        _ = (scene.take(first), scene.take(second), scene.takePDUs())
        scene.receive(bytes("08 0100 FFFF 882B"), on: 0x41)
        #expect(scene.take(first) == ["consent to read 9"])
    }
}
