import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothSMP
import BluetoothSimulation
import TestSupport
import Testing

// The Encrypted Data Key Material (Core 5.4, Vol 3, Part C, 12.6).
extension GenericAccessTests {
    @Test("GAP/GAT/BV-10: without authentication, reading the key material is refused")
    func notAuthenticated() throws {
        var controller = try Self.server()
        // Read, and indicate: 22.
        #expect(Self.discover("882B", on: &controller) == [Found(properties: 0x22, value: "0900")])
        #expect(Self.answer(of: &controller, to: "0A 0900") == "010A090005")
        #expect(Self.answer(of: &controller, to: "08 0100 FFFF 882B") == "0108090005")
    }

    /// Two devices with an authenticated link, of which the peripheral has key material.
    private static func scene() throws -> SecurityModeTests.Scene {
        var scene = try unpairedScene()
        let outcomes = try scene.pair(from: .central)
        try #require(outcomes.count == 2)
        return scene
    }

    /// What the central gets of the key material that it discovers, with the application's consent or without.
    private static func readMaterial(
        _ scene: inout SecurityModeTests.Scene, consents: Bool
    ) throws -> Result<GATTClientResult, GATTClientError>? {
        let pair = scene.pair
        guard
            case .success(.services(let services)) = try perform(
                .discoverPrimaryServices(uuid: .genericAccess), in: &scene), services.count == 1,
            case .success(.characteristics(let found)) = try perform(
                .discoverCharacteristics(
                    in: services[0].startHandle...services[0].endHandle, uuid: .encryptedDataKeyMaterial), in: &scene)
        else { return nil }
        #expect(found.map(\.valueHandle) == [0x0009])
        _ = try scene.world.hosts[pair.central].start(.read(0x0009), on: pair.centralLink, at: scene.world.now)
        let asked = scene.world.next(pair.peripheral) { seen -> ServerRequest? in
            guard case .server(_, .authorizationRequested(let request, 0x0009, .read)) = seen.event else { return nil }
            return request
        }
        let request = try #require(asked)
        if consents {
            try scene.world.hosts[pair.peripheral].authorize(request, at: scene.world.now)
        } else {
            try scene.world.hosts[pair.peripheral].refuse(request, with: .insufficientAuthorization)
        }
        return end(in: &scene)
    }

    @Test("GAP/GAT/BV-09: over an authenticated link and with consent, key material can be read, but not written")
    func authorized() throws {
        var scene = try Self.scene()
        #expect(try Self.readMaterial(&scene, consents: true) == .success(.value(Self.material)))
        let others = [UInt8](repeating: 0xA5, count: 24)
        let refusal = ATTError(.writeNotPermitted, for: .writeRequest, at: 0x0009)
        #expect(try Self.perform(.write(0x0009, others), in: &scene) == .failure(.att(refusal)))
        #expect(try Self.perform(.read(0x0009), in: &scene) == .success(.value(Self.material)))
    }

    @Test("GAP/GAT/BV-11: without consent, reading the key material is refused")
    func notAuthorized() throws {
        var scene = try Self.scene()
        guard case .failure(.att(let error)) = try Self.readMaterial(&scene, consents: false) else {
            Issue.record("it was given")
            return
        }
        #expect(error.code == .insufficientAuthorization)
    }

    @Test("GAP/GAT/BV-15: new key material is indicated to subscribers, one at a time, the newest last")
    func indicated() throws {
        var scene = try Self.scene()
        let pair = scene.pair
        let handle: AttributeHandle = 0x0009, descriptor: AttributeHandle = 0x000A
        #expect(scene.world.hosts[pair.peripheral].server.database.type(of: handle) == .encryptedDataKeyMaterial)
        _ = try scene.world.hosts[pair.central].start(
            .configure(descriptor: descriptor, .indications), on: pair.centralLink, at: scene.world.now)
        let asked = scene.world.next(pair.peripheral) { seen -> ServerRequest? in
            guard case .server(_, .authorizationRequested(let request, descriptor, .write)) = seen.event else {
                return nil
            }
            return request
        }
        try scene.world.hosts[pair.peripheral].authorize(try #require(asked), at: scene.world.now)
        let isConfigured = scene.world.next(pair.central) { $0.event.completed.map { _ in true } }
        try #require(isConfigured == true)
        scene.world.run(for: .seconds(1))
        scene.world.seen[pair.central].removeAll()
        for number in UInt8(1)...3 {
            try scene.world.hosts[pair.peripheral].setEncryptedDataKeyMaterial(
                [UInt8](repeating: number, count: 24), at: scene.world.now)
        }
        scene.world.run(for: .seconds(1))
        let indicated = scene.world.seen[pair.central].compactMap { seen -> [UInt8]? in
            if case .client(_, .indication(handle, _)) = seen.event { seen.bytes } else { nil }
        }
        #expect(indicated == [[UInt8](repeating: 1, count: 24), [UInt8](repeating: 3, count: 24)])
    }

    @Test("Key material must have 24 octets, and cannot be set on a device without it")
    func invalidMaterial() throws {
        var controller = try Self.server()
        #expect(throws: GATTDatabaseError.self) {
            try controller.host.setEncryptedDataKeyMaterial([1], at: controller.now)
        }
        var bare = try Self.server { $0.genericAccess = GenericAccess() }
        #expect(throws: GATTDatabaseError.self) {
            try bare.host.setEncryptedDataKeyMaterial(Self.material, at: bare.now)
        }
    }
}
