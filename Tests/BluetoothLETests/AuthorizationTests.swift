import AdapterTestSupport
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("Values that require authorization", .timeLimit(.minutes(30)))
struct AuthorizationTests {
    private static let guarded: BluetoothUUID = "F011"
    private static let definition = GATTServiceDefinition(
        uuid: "F010",
        characteristics: [
            .init(
                uuid: guarded, properties: [.read, .write],
                permissions: GATTPermissions(
                    read: .open, write: .open, readNeedsAuthorization: true, writeNeedsAuthorization: true),
                value: .variableLength([1, 2, 3]))
        ])

    private func scene(
        _ time: VirtualRadio.Time = .system
    ) async throws -> (Scene, DiscoveredCharacteristic, PublishedCharacteristic) {
        let scene = try await Scene(time: time)
        let (local, remote) = try await scene.radio.passing {
            // The central watches changes by now, so it is notified of this one, and discovers the services after that.
            await scene.central.runner.waitUntilIdle()
            let service = try await scene.peripheral.publish(Self.definition)
            return (
                try #require(service[Self.guarded]),
                try await scene.connection.characteristic(Self.guarded, in: "F010")
            )
        }
        return (scene, remote, local)
    }

    @Test("The application is asked once for reads and once for writes, and the peer then has access")
    func allowed() async throws {
        let (scene, remote, local) = try await scene()
        let asking = Task {
            var asked: [GATTAccess] = []
            for try await event in local.events {
                switch event {
                case .authorizationRequested(let request):
                    #expect(request.handle == local.handle)
                    asked.append(request.access)
                    try await request.accept()
                case .written: return asked
                default: break
                }
            }
            return asked
        }
        #expect(try await scene.connection.read(remote) == [1, 2, 3])
        #expect(try await scene.connection.read(remote) == [1, 2, 3])
        try await scene.connection.write([4], to: remote)
        #expect(try await asking.value == [.read, .write])
        #expect(await local.value == [4])
    }

    @Test("A refused peer gets Insufficient Authorization, and the link keeps working meanwhile")
    func refused() async throws {
        let (scene, remote, local) = try await scene()
        let reading = Task { try await scene.connection.read(remote) }
        guard case .authorizationRequested(let request)? = try await local.events.first() else {
            Issue.record("nobody was asked")
            return
        }
        // The other direction of the link does not wait.
        #expect(try await request.connection.discoverServices().isEmpty == false)
        try await request.refuse()
        await #expect(
            throws: BluetoothError.att(ATTError(.insufficientAuthorization, for: .readRequest, at: remote.valueHandle))
        ) { _ = try await reading.value }
        await #expect(throws: BluetoothError.requestExpired) { try await request.accept() }
        #expect(try await scene.works())
    }

    @Test("An unanswered request for authorization is refused, and answering it later fails")
    func unanswered() async throws {
        let (scene, remote, local) = try await scene(.manual)
        let error = BluetoothError.att(
            ATTError(.insufficientAuthorization, for: .readRequest, at: remote.valueHandle))
        await #expect(throws: error) {
            _ = try await scene.radio.passing { try await scene.connection.read(remote) }
        }
        guard case .authorizationRequested(let request)? = try await local.events.first() else {
            Issue.record("nobody was asked")
            return
        }
        await #expect(throws: BluetoothError.requestExpired) { try await request.accept() }
        #expect(try await scene.works())
    }
}
