import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothSMP
import BluetoothSimulation
import Testing

/// Requests of a client whose bond gives less than the server needs, or is known to one side only (Core 5.4, Vol 3,
/// Part C, 10.3.1 and 10.3.2).
@Suite("GAP: requests that need more than a bond provides")
struct BondedRequestTests {
    private static let compared = KeyStrength(model: .numericComparison, usesSecureConnections: true, keySize: 16)

    /// Publishes a value at a host.
    private func publish(
        _ requirement: GATTPermissions.Requirement, at index: Int, in world: inout HostWorld
    ) throws -> AttributeHandle {
        let service = GATTServiceDefinition(
            uuid: HostWorld.service,
            characteristics: [
                .init(
                    uuid: HostWorld.characteristic, properties: .read, permissions: GATTPermissions(read: requirement),
                    value: .constant([7]))
            ])
        let handles = try world.hosts[index].addService(service, at: world.now)
        return try #require(handles.characteristics.first?.value)
    }

    /// The peer's value, or the error in its place.
    private func read(
        _ handle: AttributeHandle, by index: Int, on link: LinkIdentifier, in world: inout HostWorld
    ) throws -> Result<GATTClientResult, GATTClientError>? {
        _ = try world.hosts[index].start(.read(handle), on: link, at: world.now)
        return world.next(index) {
            switch $0.event {
            case .client(_, .operationEnded(.completed(_, let result))): .success(result)
            case .client(_, .operationEnded(.failed(_, let error))): .failure(error)
            default: nil
            }
        }
    }

    @Test(
        "GAP/SEC/AUT/BV-13, BV-14: a server with an unauthenticated bond refuses the client until they authenticate",
        arguments: LinkRole.allCases)
    func unauthenticatedBond(_ server: LinkRole) throws {
        var scene = try RepairingScene(server)
        let handle = try publish(.authenticated, at: scene.victim, in: &scene.world)
        try scene.reconnect()
        #expect(scene.bond.strength.model == .justWorks)
        #expect(scene.world.hosts[scene.victim].keyStrength(of: scene.victimLink) == scene.bond.strength)
        let refused = try read(handle, by: scene.peer, on: scene.peerLink, in: &scene.world)
        #expect(refused == .failure(.att(ATTError(.insufficientAuthentication, for: .readRequest, at: handle))))
        let outcome = try scene.pair(from: scene.peer, attacker: .init(parameters: .comparing))
        #expect(outcome == .success(Self.compared))
        scene.run(for: .seconds(1))
        let value = try read(handle, by: scene.peer, on: scene.peerLink, in: &scene.world)
        #expect(value == .success(.value([7])))
    }

    @Test(
        """
        GAP/SEC/AUT/BV-20, BV-26, BV-28: a peripheral that a bonded central refuses asks it for security. A \
        central that pairs instead of encrypting needs the consent of the user
        """,
        arguments: [ATTErrorCode.insufficientAuthentication, .insufficientEncryption])
    func centralWithoutKey(_ code: ATTErrorCode) throws {
        var scene = try RepairingScene(.peripheral, bondedBy: .comparing)
        let handle = try publish(.encrypted, at: scene.peer, in: &scene.world)
        scene.loseKey()
        if code == .insufficientEncryption {
            // The central still knows the peripheral, and has no key to encrypt with.
            var keyless = scene.genuine
            keyless.centralKey = nil
            scene.world.hosts[scene.peer].restore(keyless, at: scene.world.now)
        }
        try scene.reconnect()
        let refused = try read(handle, by: scene.victim, on: scene.victimLink, in: &scene.world)
        #expect(refused == .failure(.att(ATTError(code, for: .readRequest, at: handle))))
        #expect(scene.world.hosts[scene.victim].bondStrength(of: scene.victimLink) == scene.bond.strength)

        let outcome = try scene.pair(from: scene.victim, attacker: .init(parameters: .comparing))
        #expect(outcome == .success(Self.compared))
        let questions = scene.reported.compactMap { event -> PairingQuestion? in
            if case .security(_, .asked(let question)) = event { question } else { nil }
        }
        #expect(questions.contains { if case .consent = $0 { true } else { false } })
        #expect(questions.contains { if case .compareNumbers = $0 { true } else { false } })
        scene.run(for: .seconds(1))
        #expect(scene.world.hosts[scene.victim].bonds.first?.peripheralKey != scene.bond.peripheralKey)
        let value = try read(handle, by: scene.victim, on: scene.victimLink, in: &scene.world)
        #expect(value == .success(.value([7])))
    }
}
