import BluetoothLE
import Testing
import VirtualRadio

@testable import CoreBluetooth

@Suite("A manager's saved state on disk")
struct StateFileTests {
    private static func identifier(_ text: String) -> SavedUUID { SavedUUID(CBUUID(string: text)) }

    static let central = CentralState(
        scan: CentralState.Scan(
            services: [identifier("180D")], solicited: [identifier("E07F0AE8-00BB-47F5-94F4-4A7174EA3032")],
            allowsDuplicates: true),
        peripherals: [
            CentralState.Peripheral(
                address: "C0:11:22:33:44:55", name: "Sensor ♥", isReconnecting: true,
                services: [
                    CentralState.Service(
                        uuid: identifier("180D"), isPrimary: true, isOnlyIncluded: false, first: 1, last: 9,
                        included: [0],
                        characteristics: [
                            CentralState.Characteristic(
                                uuid: identifier("2A37"), declaration: 2, value: 3, last: 9, properties: 0x10,
                                isNotifying: true,
                                descriptors: [CentralState.Descriptor(uuid: identifier("2902"), handle: 4)])
                        ])
                ])
        ])

    static let server = ServerState(
        services: [
            ServerState.Service(
                uuid: identifier("180F"), isPrimary: true, included: [],
                characteristics: [
                    ServerState.Characteristic(
                        uuid: identifier("2A19"), properties: 0x02, permissions: 0x01, value: Data([0x64]),
                        descriptors: [ServerState.Descriptor(uuid: identifier("2901"), text: "Level")])
                ]),
            ServerState.Service(
                uuid: identifier("180A"), isPrimary: false, included: [0], characteristics: []),
        ],
        advertisement: ServerState.Advertisement(name: "Server", services: [identifier("180F")]))

    private struct Content<State: Codable>: Codable {
        var version = 1
        var state: State
    }

    @Test("Written state is read back unchanged")
    func wholly() throws {
        let central = try JSONEncoder().encode(Content(state: Self.central))
        #expect(try StateFile.decode(CentralState.self, from: central) == Self.central)
        let server = try JSONEncoder().encode(Content(state: Self.server))
        #expect(try StateFile.decode(ServerState.self, from: server) == Self.server)
    }

    @Test("A state file truncated at any octet is rejected")
    func cutOff() throws {
        for data in [
            try JSONEncoder().encode(Content(state: Self.central)),
            try JSONEncoder().encode(Content(state: Self.server)),
        ] {
            for length in data.indices {
                #expect(throws: (any Error).self) { try StateFile.decode(CentralState.self, from: data.prefix(length)) }
                #expect(throws: (any Error).self) { try StateFile.decode(ServerState.self, from: data.prefix(length)) }
            }
        }
    }

    @Test(
        "A state file garbled at any octet is rejected, or still yields valid objects",
        arguments: ["0", "9", "-", "\"", "]", " "])
    func garbled(octet: String) throws {
        let octet = try #require(octet.utf8.first)
        let stage = Stage(storesFiles: true)
        let port = stage.radio.addController()
        let manager = stage.with(port) { CBCentralManager(delegate: nil, queue: DispatchQueue(label: "garbled")) }
        let central = try JSONEncoder().encode(Content(state: Self.central))
        let server = try JSONEncoder().encode(Content(state: Self.server))
        var count = 0
        for index in central.indices {
            var data = central
            data[index] = octet
            guard let state = try? StateFile.decode(CentralState.self, from: data) else { continue }
            for saved in state.peripherals {
                let address = try #require(saved.deviceAddress)
                let peripheral = CBPeripheral(UUID(), PeerID(address), name: saved.name, manager: manager)
                #expect(saved.restored(of: peripheral).services?.count == saved.services?.count { !$0.isOnlyIncluded })
                count += 1
            }
        }
        for index in server.indices {
            var data = server
            data[index] = octet
            guard let state = try? StateFile.decode(ServerState.self, from: data) else { continue }
            for service in state.restoredServices { _ = try? ServiceDefinition(service) }
            #expect(state.restoredServices.count == state.services.count)
            count += 1
        }
        #expect(count > 0)
    }

    static let contradictions: [String] = [
        #"{"version":2,"state":{"services":[]}}"#,
        #"{"version":1,"state":{"services":[{"uuid":"180F","isPrimary":true,"included":[0],"characteristics":[]}]}}"#,
        #"{"version":1,"state":{"services":[{"uuid":"18","isPrimary":true,"included":[],"characteristics":[]}]}}"#,
        #"{"version":1,"state":{"services":[{"uuid":"180F","isPrimary":true,"included":[],"characteristics":"#
            + #"[{"uuid":"2A19","properties":10,"permissions":1,"value":"ZA==","descriptors":[]}]}]}}"#,
        #"{"version":1,"state":{"services":[{"uuid":"180F","isPrimary":true,"included":[],"characteristics":"#
            + #"[{"uuid":"2A19","properties":2,"permissions":1,"descriptors":[{"uuid":"2901","octets":"ZA=="}]}]}]}}"#,
    ]

    @Test("State that would be a programming error, or is of another version, is rejected", arguments: contradictions)
    func contradiction(text: String) {
        #expect(throws: (any Error).self) { try StateFile.decode(ServerState.self, from: Data(text.utf8)) }
    }

    @Test(
        "Each identifier has its own file inside the directory",
        arguments: [
            ("app", "central-app.json"), ("a/b", "central-a%2Fb.json"), ("../x", "central-..%2Fx.json"),
            ("ü", "central-%C3%BC.json"),
        ])
    func names(identifier: String, name: String) {
        let directory = StatePlace.directory(URL(fileURLWithPath: "/state", isDirectory: true))
        #expect(StateFile("central", identifier, in: directory).location == "/state/" + name)
    }

    @Test("A long identifier is shortened, and its file name stays unique")
    func longName() {
        let directory = StatePlace.directory(URL(fileURLWithPath: "/state", isDirectory: true))
        let names = ["a", "b"].map {
            StateFile("central", String(repeating: "x", count: 500) + $0, in: directory).location
        }
        #expect(names[0] != names[1])
        #expect(names[0].utf8.count < 255)
    }

    @Test("A damaged state file is set aside")
    func setAside() async throws {
        let stage = Stage(storesFiles: true)
        try FileManager.default.createDirectory(at: stage.stateDirectory, withIntermediateDirectories: true)
        let file = StateFile("central", "app", in: .directory(stage.stateDirectory))
        try Data("{".utf8).write(to: URL(fileURLWithPath: file.location))
        #expect(file.read(CentralState.self) == nil)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: stage.stateDirectory.path) == [
                "central-app.json.damaged"
            ])
        #expect(file.read(CentralState.self) == nil)
    }
}
