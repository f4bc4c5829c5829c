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
    static func server(_ configure: (inout HostConfiguration) -> Void = { _ in }) throws -> ScriptedController {
        var controller = ScriptedController.ready([:]) {
            $0.deviceName = "Abc"
            $0.genericAccess = access()
            configure(&$0)
        }
        _ = try controller.accept(0x40)
        return controller
    }

    /// The answer of the server to a PDU.
    static func answer(of controller: inout ScriptedController, to pdu: String) -> String {
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

    /// A characteristic as a client discovers it.
    struct Found: Equatable {
        var properties: UInt8
        /// Two octets in hexadecimal.
        var value: String
    }

    /// The characteristics of one type, which ends a Read By Type Request, that a client discovers: first the service,
    /// then all its characteristics.
    static func discover(_ type: String, on controller: inout ScriptedController) -> [Found] {
        let range = answer(of: &controller, to: "06 0100 FFFF 0028 0018")
        guard range.hasPrefix("070100"), range.count == 10 else { return [] }
        var found: [Found] = []
        var start = "0100"
        while true {
            let list = bytes(answer(of: &controller, to: "08 \(start) \(range.suffix(4)) 0328"))
            guard list.first == 0x09, list.count > 8, list[1] == 7 else { return found }
            for place in stride(from: 2, to: list.count, by: 7) {
                if hexadecimal(list[place + 5..<place + 7]) == type {
                    found.append(Found(properties: list[place + 2], value: hexadecimal(list[place + 3..<place + 5])))
                }
                // The handle behind the declaration.
                start = hexadecimal([list[place] + 1, 0])
            }
        }
    }

    @Test("Each characteristic is discovered once, and read by handle and by type", arguments: reads)
    func read(_ code: String, _ request: String, _ answer: String) throws {
        var controller = try Self.server()
        #expect(Self.answer(of: &controller, to: request) == answer)
        try Self.check(String(request.suffix(4)), answer, on: &controller)
    }

    /// Checks that a type is discovered once, with the right properties, and that its handle has the value of an answer
    /// to Read By Type.
    private static func check(_ type: String, _ answer: String, on controller: inout ScriptedController) throws {
        let found = discover(type, on: &controller)
        #expect(found.count == 1)
        let characteristic = try #require(found.first)
        // The name and the appearance may be written here, and nothing else: Read is 02, and Write 08.
        #expect(characteristic.properties == (["002A", "012A"].contains(type) ? 0x0A : 0x02))
        #expect(characteristic.value == answer.dropFirst(4).prefix(4))
        #expect(Self.answer(of: &controller, to: "0A " + characteristic.value) == "0B" + answer.dropFirst(8))
    }

    @Test("GAP/GAT/BV-18, BV-19: Central Address Resolution and Resolvable Private Address Only are served")
    func privacy() throws {
        var controller = try Self.server {
            $0.security = SecurityConfiguration(
                crypto: HostWorld.crypto, entropy: SeededGenerator(seed: 1), resolvingKey: HostWorld.key(of: 1))
            $0.privacy = .resolvable()
        }
        // This controller has no resolving list.
        #expect(Self.answer(of: &controller, to: "08 0100 FFFF A62A") == "0903090000")
        #expect(Self.answer(of: &controller, to: "08 0100 FFFF C92A") == "09030B0000")
        try Self.check("A62A", "0903090000", on: &controller)
        try Self.check("C92A", "09030B0000", on: &controller)
    }

    @Test("By default there are only a name and an unknown appearance, and neither is writable")
    func preset() throws {
        var controller = try Self.server { $0.genericAccess = GenericAccess() }
        #expect(Self.answer(of: &controller, to: "08 0100 FFFF 012A") == "090405000000")
        for type in ["042A", "F52B", "882B", "A62A", "C92A"] {
            #expect(Self.answer(of: &controller, to: "08 0100 FFFF \(type)") == "010801000A")
        }
        #expect(Self.answer(of: &controller, to: "12 0300 58") == "0112030003")
        #expect(Self.answer(of: &controller, to: "12 0500 0000") == "0112050003")
    }

    @Test("GAP/GAT/BV-05: a writable name can change its length, up to 248 octets")
    func name() throws {
        var controller = try Self.server()
        #expect(Self.discover("002A", on: &controller) == [Found(properties: 0x0A, value: "0300")])
        #expect(Self.answer(of: &controller, to: "52 0300 5758") == "")
        #expect(Self.answer(of: &controller, to: "0A 0300") == "0B5758")
        #expect(Self.answer(of: &controller, to: "12 0300 587960") == "13")
        #expect(Self.answer(of: &controller, to: "0A 0300") == "0B587960")
        #expect(controller.takeEvents().contains { $0.contains("written") })
        // The name that a device begins with is no longer.
        let long = GATTServiceDefinition.genericAccess(deviceName: String(repeating: "x", count: 249))
        #expect(
            long.characteristics.first?.value
                == .variableLength([UInt8](repeating: 0x78, count: 248), maximum: 248))
    }

    @Test("GAP/GAT/BV-06: a writable appearance has two octets, and requires pairing if so configured")
    func appearance() throws {
        var open = try Self.server { $0.genericAccess.appearanceWrite = .open }
        #expect(Self.discover("012A", on: &open) == [Found(properties: 0x0A, value: "0500")])
        #expect(Self.answer(of: &open, to: "52 0500 4103") == "")
        #expect(Self.answer(of: &open, to: "0A 0500") == "0B4103")
        #expect(Self.answer(of: &open, to: "12 0500 4203") == "13")
        #expect(Self.answer(of: &open, to: "0A 0500") == "0B4203")
        #expect(Self.answer(of: &open, to: "12 0500 420300") == "011205000D")
        // Over a link that is not encrypted, a command is ignored and a request refused.
        var scene = try Self.unpairedScene()
        let command = [0x40, 0x03] as [UInt8]
        _ = try scene.world.hosts[scene.pair.central].writeWithoutResponse(
            command.span, to: 0x0005, on: scene.pair.centralLink)
        #expect(try Self.perform(.read(0x0005), in: &scene) == .success(.value([0x41, 0x03])))
        let refusal = ATTError(.insufficientAuthentication, for: .writeRequest, at: 0x0005)
        #expect(try Self.perform(.write(0x0005, [0x42, 0x03]), in: &scene) == .failure(.att(refusal)))
        let outcomes = try scene.pair(from: .central)
        try #require(outcomes.count == 2)
        #expect(try Self.perform(.write(0x0005, [0x42, 0x03]), in: &scene) == .success(.written))
        #expect(try Self.perform(.read(0x0005), in: &scene) == .success(.value([0x42, 0x03])))
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

    // MARK: - Links

    /// Two devices with a link, of which the peripheral has key material.
    static func unpairedScene() throws -> SecurityModeTests.Scene {
        try SecurityModeTests.Scene(.authenticated, central: SecurityPolicy(), peripheral: SecurityPolicy()) {
            $0.genericAccess = access()
        }
    }

    /// The end of an operation of the central.
    static func perform(
        _ operation: GATTClientOperation, in scene: inout SecurityModeTests.Scene
    ) throws -> Result<GATTClientResult, GATTClientError>? {
        _ = try scene.world.hosts[scene.pair.central].start(
            operation, on: scene.pair.centralLink, at: scene.world.now)
        return end(in: &scene)
    }

    static func end(in scene: inout SecurityModeTests.Scene) -> Result<GATTClientResult, GATTClientError>? {
        scene.world.next(scene.pair.central) {
            switch $0.event {
            case .client(_, .operationEnded(.completed(_, let result))): .success(result)
            case .client(_, .operationEnded(.failed(_, let error))): .failure(error)
            default: nil
            }
        }
    }
}
