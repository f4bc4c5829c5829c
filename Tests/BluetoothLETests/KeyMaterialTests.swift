import AdapterTestSupport
import BluetoothValues
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("Key material of encrypted advertising data", .timeLimit(.minutes(30)))
struct KeyMaterialTests {
    static func material(_ octet: UInt8) -> EncryptedDataKeyMaterial {
        EncryptedDataKeyMaterial(
            sessionKey: [UInt8](repeating: octet, count: 16), initializationVector: [UInt8](repeating: octet, count: 8))
    }

    static func octets(_ octet: UInt8) -> [UInt8] { [UInt8](repeating: octet, count: 24) }

    /// A device with key material, and a central that has paired with it under the eyes of a person, with the handle of
    /// the material.
    private struct Paired {
        let scene: SecureScene
        let connection: Connection
        let handle: AttributeHandle

        init() async throws {
            scene = try await SecureScene(keyMaterial: KeyMaterialTests.octets(1))
            let screens = Screens()
            (connection, handle) = try await scene.radio.passing { [scene] in
                let connection = try await scene.central.connect(to: scene.address)
                try await scene.peripheral.withPairingAgent(Comparing(screens: screens)) {
                    try await scene.central.withPairingAgent(Comparing(screens: screens)) {
                        try await connection.pair(PairRequest(requiresAuthentication: true))
                    }
                }
                let characteristic = try await connection.characteristic(.encryptedDataKeyMaterial, in: .genericAccess)
                return (connection, characteristic.valueHandle)
            }
        }

        var refusal: BluetoothError {
            .att(ATTError(.insufficientAuthorization, for: .readRequest, at: handle))
        }
    }

    @Test("A peer can read the key material once the application agrees, for the rest of the connection")
    func consent() async throws {
        let paired = try await Paired(), (connection, handle) = (paired.connection, paired.handle)
        try await paired.scene.radio.passing {
            var requests = try await paired.scene.peripheral.keyMaterialRequests().makeAsyncIterator()
            let refused = Task { try await connection.read(handle) }
            let first = try #require(try await requests.next())
            #expect(first.access == .read && first.handle == handle)
            try await first.refuse()
            await #expect(throws: paired.refusal) { _ = try await refused.value }
            async let allowed = connection.read(handle)
            try await #require(try await requests.next()).accept()
            #expect(try await allowed == KeyMaterialTests.octets(1))
            try await paired.scene.peripheral.setEncryptedDataKeyMaterial(KeyMaterialTests.material(2))
            #expect(try await connection.read(handle) == KeyMaterialTests.octets(2))
        }
    }

    @Test("Reads are refused if nothing handles the requests, and a new handler replaces the previous one")
    func nobody() async throws {
        let paired = try await Paired(), (connection, handle) = (paired.connection, paired.handle)
        try await paired.scene.radio.passing {
            await #expect(throws: paired.refusal) { _ = try await connection.read(handle) }
            var former = try await paired.scene.peripheral.keyMaterialRequests().makeAsyncIterator()
            do {
                var requests = try await paired.scene.peripheral.keyMaterialRequests().makeAsyncIterator()
                #expect(try await former.next() == nil)
                let read = Task { try await connection.read(handle) }
                try await #require(try await requests.next()).refuse()
                await #expect(throws: paired.refusal) { _ = try await read.value }
            }
            await #expect(throws: paired.refusal) { _ = try await connection.read(handle) }
        }
    }

    @Test("Setting key material fails on a device that was opened without it")
    func none() async throws {
        let scene = try await SecureScene()
        await #expect(throws: BluetoothError.self) {
            try await scene.radio.passing {
                try await scene.peripheral.setEncryptedDataKeyMaterial(KeyMaterialTests.material(2))
            }
        }
    }
}
