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

/// The Generic Access service (Core 5.4, Vol 3, Part C, 12), and the name discovery procedure (9.2.7).
@Suite("GAP: the Generic Access service")
struct GenericAccessTests {
    static let material = [UInt8](1...24)

    static func access() -> GenericAccess {
        var access = GenericAccess()
        access.appearance = Appearance(category: 13, subcategory: 1)
        access.preferredConnectionParameters = ConnectionParameters(
            intervalMin: 24, intervalMax: 40, latency: 4, timeout: 400)
        access.securityLevels = [.init(mode: 1, level: 2), .init(mode: 1, level: 3)]
        access.encryptedDataKeyMaterial = material
        access.deviceNameWrite = .open
        access.appearanceWrite = .encrypted
        return access
    }

    /// A server on a list of answers, with a link to a client.
    private static func server(_ configure: (inout HostConfiguration) -> Void = { _ in }) throws -> ScriptedController {
        var controller = ScriptedController.ready([:]) {
            $0.deviceName = "Abc"
            $0.genericAccess = access()
            configure(&$0)
        }
        _ = try controller.accept(0x40)
        return controller
    }

    /// The answer of the server to a PDU.
    private static func answer(of controller: inout ScriptedController, to pdu: String) -> String {
        _ = controller.takeData()
        controller.receiveFrame(bytes(pdu))
        return controller.takeData().map { hexadecimal($0.dropFirst(8)) }.joined(separator: " ")
    }

    private static func hexadecimal(_ octets: ArraySlice<UInt8>) -> String {
        octets.map { BluetoothBase.hexadecimal($0, digits: 2) }.joined()
    }

    /// Case of the qualification, Read By Type Request, and its answer.
    static let reads: [(code: String, request: String, answer: String)] = [
        ("GAP/IDLE/NAMP/BV-02", "08 0100 FFFF 002A", "09050300416263"),
        ("GAP/GAT/BV-16", "08 0100 FFFF 002A", "09050300416263"),
        ("GAP/GAT/BV-17", "08 0100 FFFF 012A", "090405004103"),
        ("GAP/GAT/BV-04", "08 0100 FFFF 042A", "090A07001800280004009001"),
        ("GAP/GAT/BV-12", "08 0100 FFFF F52B", "09060C0001020103"),
    ]

    @Test("Its characteristics are read", arguments: reads)
    func read(_ code: String, _ request: String, _ answer: String) throws {
        var controller = try Self.server()
        #expect(Self.answer(of: &controller, to: request) == answer)
    }

    @Test("GAP/GAT/BV-18, BV-19: central address resolution, and that only resolvable addresses are used")
    func privacy() throws {
        var controller = try Self.server {
            $0.security = SecurityConfiguration(
                crypto: HostWorld.crypto, entropy: SeededGenerator(seed: 1), resolvingKey: HostWorld.key(of: 1))
            $0.privacy = .resolvable()
        }
        // This controller has no resolving list.
        #expect(Self.answer(of: &controller, to: "08 0100 FFFF A62A") == "0903090000")
        #expect(Self.answer(of: &controller, to: "08 0100 FFFF C92A") == "09030B0000")
    }

    @Test("Of a device that says nothing there is a name and an unknown appearance")
    func preset() throws {
        var controller = try Self.server { $0.genericAccess = GenericAccess() }
        #expect(Self.answer(of: &controller, to: "08 0100 FFFF 012A") == "090405000000")
        for type in ["042A", "F52B", "882B", "A62A", "C92A"] {
            #expect(Self.answer(of: &controller, to: "08 0100 FFFF \(type)") == "010801000A")
        }
        #expect(Self.answer(of: &controller, to: "12 0300 58") == "0112030003")
        #expect(Self.answer(of: &controller, to: "12 0500 0000") == "0112050003")
    }

    @Test("GAP/GAT/BV-05: a name that may be written has another length afterwards, and 248 octets at most")
    func name() throws {
        var controller = try Self.server()
        #expect(Self.answer(of: &controller, to: "12 0300 5879") == "13")
        #expect(Self.answer(of: &controller, to: "0A 0300") == "0B5879")
        #expect(controller.takeEvents().contains { $0.contains("written") })
        // The name that a device begins with is no longer.
        let long = GATTServiceDefinition.genericAccess(deviceName: String(repeating: "x", count: 249))
        #expect(
            long.characteristics.first?.value
                == .variableLength([UInt8](repeating: 0x78, count: 248), maximum: 248))
    }

    @Test("GAP/GAT/BV-06: an appearance is written by those who may, and has two octets")
    func appearance() throws {
        var controller = try Self.server()
        #expect(Self.answer(of: &controller, to: "12 0500 4203") == "0112050005")
        var open = try Self.server { $0.genericAccess.appearanceWrite = .open }
        #expect(Self.answer(of: &open, to: "12 0500 4203") == "13")
        #expect(Self.answer(of: &open, to: "0A 0500") == "0B4203")
        #expect(Self.answer(of: &open, to: "12 0500 420300") == "011205000D")
    }

    @Test("GAP/IDLE/NAMP/BV-01: a client reads the name of a server by its type")
    func nameDiscovery() throws {
        var world = HostWorld()
        let server = world.start(host: { $0.deviceName = "Abc" }), client = world.start()
        let connected = world.connect(client, to: server)
        let pair = try #require(connected)
        world.run(for: .seconds(1))
        world.transcript = []
        _ = try world.hosts[client].start(.readByUUID(.deviceName), on: pair.centralLink, at: world.now)
        let result = world.next(client) { $0.event.completed }
        guard case .values(let values)? = result else {
            Issue.record("nothing was read")
            return
        }
        #expect(values.map(\.value) == [Array("Abc".utf8)])
        let requests = (world.transcript ?? []).filter { $0.contains(" \(client) > [2,") }
        #expect(requests.first?.hasSuffix("8, 1, 0, 255, 255, 0, 42]") == true)
    }

    // MARK: - Encrypted Data Key Material

    @Test("GAP/GAT/BV-10: without authentication the key material is not given")
    func notAuthenticated() throws {
        var controller = try Self.server()
        #expect(Self.answer(of: &controller, to: "08 0100 FFFF 882B") == "0108090005")
    }

    /// Two devices with an authenticated link, of which the peripheral has key material.
    private static func scene() throws -> SecurityModeTests.Scene {
        var scene = try SecurityModeTests.Scene(.authenticated, central: SecurityPolicy(), peripheral: SecurityPolicy())
        {
            $0.genericAccess = access()
        }
        let outcomes = try scene.pair(from: .central)
        try #require(outcomes.count == 2)
        return scene
    }

    /// What the central gets of the key material, with the application's consent or without.
    private static func readMaterial(
        _ scene: inout SecurityModeTests.Scene, consents: Bool
    ) throws -> Result<GATTClientResult, GATTClientError>? {
        let pair = scene.pair
        _ = try scene.world.hosts[pair.central].start(
            .readByUUID(.encryptedDataKeyMaterial), on: pair.centralLink, at: scene.world.now)
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
        return scene.world.next(pair.central) {
            switch $0.event {
            case .client(_, .operationEnded(.completed(_, let result))): .success(result)
            case .client(_, .operationEnded(.failed(_, let error))): .failure(error)
            default: nil
            }
        }
    }

    @Test("GAP/GAT/BV-09: over an authenticated link and with consent the key material is given")
    func authorized() throws {
        var scene = try Self.scene()
        guard case .success(.values(let values)) = try Self.readMaterial(&scene, consents: true) else {
            Issue.record("it was not given")
            return
        }
        #expect(values.map(\.value) == [Self.material])
    }

    @Test("GAP/GAT/BV-11: without consent the key material is not given")
    func notAuthorized() throws {
        var scene = try Self.scene()
        guard case .failure(.att(let error)) = try Self.readMaterial(&scene, consents: false) else {
            Issue.record("it was given")
            return
        }
        #expect(error.code == .insufficientAuthorization)
    }

    @Test("GAP/GAT/BV-15: new key material is indicated to those who subscribed, one at a time, the newest last")
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

    @Test("Key material has 24 octets, and is not there where the device has none")
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
