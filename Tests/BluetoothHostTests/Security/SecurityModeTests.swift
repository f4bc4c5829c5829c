import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothSMP
import BluetoothSimulation
import TestSupport
import Testing

/// LE security mode 1, in either role (Core 5.4, Vol 3, Part C, 10.2.1 and 10.3).
@Suite("Security modes")
struct SecurityModeTests {
    enum Level: Int, CaseIterable, CustomTestStringConvertible {
        case encrypted = 2
        case authenticated, secureConnectionsOnly

        var testDescription: String { "level \(rawValue)" }

        /// What a value of this level needs.
        var requirement: GATTPermissions.Requirement {
            switch self {
            case .encrypted: .encrypted
            case .authenticated: .authenticated
            case .secureConnectionsOnly: .authenticatedSecureConnections
            }
        }

        /// What a device of this level accepts of a pairing.
        var policy: SecurityPolicy { SecurityPolicy(requiresSecureConnections: self == .secureConnectionsOnly) }

        /// What a device of this level brings into a pairing.
        var parameters: PairingParameters {
            PairingParameters(
                ioCapability: self == .encrypted ? .noInputNoOutput : .displayYesNo,
                requiresAuthentication: self != .encrypted)
        }

        /// The keys that a bond of this level has.
        var strength: KeyStrength {
            KeyStrength(
                model: self == .encrypted ? .justWorks : .passkeyEntry,
                usesSecureConnections: self == .secureConnectionsOnly, keySize: 16)
        }
    }

    /// Two hosts with a link, each of which serves a value of a level.
    struct Scene {
        var world = HostWorld()
        var pair: HostWorld.Pair
        let level: Level
        let handle: AttributeHandle

        init(
            _ level: Level, central: SecurityPolicy, peripheral: SecurityPolicy,
            peripheralHost configure: (inout HostConfiguration) -> Void = { _ in }
        ) throws {
            let first = world.startSecure { $0.security?.policy = central }
            let second = world.startSecure {
                $0.security?.policy = peripheral
                configure(&$0)
            }
            let service = GATTServiceDefinition(
                uuid: HostWorld.service,
                characteristics: [
                    .init(
                        uuid: HostWorld.characteristic, properties: .read,
                        permissions: GATTPermissions(read: level.requirement), value: .constant([7]))
                ])
            _ = try world.hosts[first].addService(service, at: world.now)
            handle = try #require(
                try world.hosts[second].addService(service, at: world.now).characteristics.first?.value)
            self.level = level
            pair = try world.connectSecure(first, to: second)
        }

        func end(_ role: LinkRole) -> (index: Int, link: LinkIdentifier) {
            role == .central ? (pair.central, pair.centralLink) : (pair.peripheral, pair.peripheralLink)
        }

        /// What a client gets of the other device's value, or why it does not.
        mutating func read(by role: LinkRole) throws -> Result<GATTClientResult, GATTClientError>? {
            let (index, link) = end(role)
            _ = try world.hosts[index].start(.read(handle), on: link, at: world.now)
            return world.next(index) {
                switch $0.event {
                case .client(_, .operationEnded(.completed(_, let result))): .success(result)
                case .client(_, .operationEnded(.failed(_, let error))): .failure(error)
                default: nil
                }
            }
        }

        /// Lets one device pair, with people at both that say yes; how it ended for either.
        mutating func pair(
            from role: LinkRole, _ parameters: PairingParameters? = nil
        ) throws -> [LinkRole: Result<KeyStrength, PairingError>] {
            let parameters = parameters ?? level.parameters
            let (index, link) = end(role)
            try world.hosts[index].pair(link, parameters, at: world.now)
            var outcomes: [LinkRole: Result<KeyStrength, PairingError>] = [:]
            for _ in 0..<100 where outcomes.count < 2 {
                world.settle()
                for role in LinkRole.allCases {
                    let (index, link) = end(role)
                    for seen in world.seen[index] {
                        switch seen.event {
                        // Who asks for nothing may be peer to anything.
                        case .security(_, .requested): try world.hosts[index].pair(link, parameters, at: world.now)
                        case .security(_, .asked):
                            try world.hosts[index].answerPairing(link, .accept(parameters), at: world.now)
                        case .security(_, .paired(let strength, _)): outcomes[role] = .success(strength)
                        case .security(_, .pairingFailed(let error)): outcomes[role] = .failure(error)
                        default: break
                        }
                    }
                    world.seen[index].removeAll()
                }
                world.run(for: .milliseconds(50))
            }
            return outcomes
        }

        func security(_ role: LinkRole) -> LinkSecurity? {
            let (index, link) = end(role)
            return world.hosts[index].information(of: link)?.security
        }

        var refusal: Result<GATTClientResult, GATTClientError> {
            .failure(.att(ATTError(.insufficientAuthentication, for: .readRequest, at: handle)))
        }
    }

    // MARK: - Procedures

    @Test(
        "Pairing from either side gives the link its level, and values that require it are refused until then",
        arguments: Level.allCases, LinkRole.allCases)
    func procedure(_ level: Level, _ beginner: LinkRole) throws {
        var scene = try Scene(level, central: level.policy, peripheral: level.policy)
        for role in LinkRole.allCases { #expect(try scene.read(by: role) == scene.refusal) }
        let strength = KeyStrength(
            model: level == .encrypted ? .justWorks : .numericComparison, usesSecureConnections: true, keySize: 16)
        let outcomes = try scene.pair(from: beginner)
        #expect(outcomes == [.central: .success(strength), .peripheral: .success(strength)])
        for role in LinkRole.allCases {
            #expect(
                scene.security(role)
                    == LinkSecurity(
                        isEncrypted: true, isAuthenticated: level != .encrypted, usesSecureConnections: true,
                        encryptionKeySize: 16, isBonded: true))
            #expect(try scene.read(by: role) == .success(.value([7])))
        }
    }

    @Test(
        "Secure Connections only: pairing fails with a device that lacks support, and values stay refused",
        arguments: LinkRole.allCases, LinkRole.allCases)
    func secureConnectionsOnly(_ strict: LinkRole, _ beginner: LinkRole) throws {
        let level = Level.secureConnectionsOnly
        let old = SecurityPolicy(offersSecureConnections: false)
        var scene = try Scene(
            level, central: strict == .central ? level.policy : old,
            peripheral: strict == .peripheral ? level.policy : old)
        let other: LinkRole = strict == .central ? .peripheral : .central
        #expect(try scene.read(by: other) == scene.refusal)
        let parameters = PairingParameters(ioCapability: .keyboardDisplay, requiresAuthentication: true)
        #expect(
            try scene.pair(from: beginner, parameters)
                == [
                    strict: .failure(.local(.authenticationRequirements)),
                    other: .failure(.peer(.authenticationRequirements)),
                ])
        #expect(scene.security(strict) == .unprotected)
        #expect(try scene.read(by: other) == scene.refusal)
    }

    @Test("A key shorter than 16 octets is refused at every level", arguments: Level.allCases, LinkRole.allCases)
    func keySize(_ level: Level, _ strict: LinkRole) throws {
        for size in 7...15 as ClosedRange<UInt8> {
            var weak = SecurityPolicy()
            (weak.minimumKeySize, weak.maximumKeySize) = (7, size)
            var scene = try Scene(
                level, central: strict == .central ? level.policy : weak,
                peripheral: strict == .peripheral ? level.policy : weak)
            let other: LinkRole = strict == .central ? .peripheral : .central
            #expect(
                try scene.pair(from: .central)
                    == [strict: .failure(.local(.encryptionKeySize)), other: .failure(.peer(.encryptionKeySize))])
            #expect(scene.security(strict) == .unprotected)
        }
    }

    // MARK: - Values that come by themselves

    /// Before the link is protected, notifications are ignored, and indications confirmed and then discarded (Vol 3,
    /// Part C, 10.3.2.2).
    @Test(
        "A bonded peer's values are delivered only over an encrypted link; indications are always confirmed",
        arguments: Level.allCases, LinkRole.allCases)
    func incoming(_ level: Level, _ role: LinkRole) throws {
        var controller = SecurityTests.ready { $0.security?.policy = level.policy }
        controller.host.restore(SecurityTests.bond(level.strength), at: controller.now)
        controller.settle()
        _ = role == .central ? try controller.connect() : try controller.accept()
        let handle: ConnectionHandle = role == .central ? 0x40 : 0x41
        _ = (controller.takeEvents(), controller.takeData())
        controller.receiveFrame(bytes("1B 0300 2A"), on: 0x04, handle)
        controller.receiveFrame(bytes("1D 0300 2A"), on: 0x04, handle)
        let confirmation = [[UInt8(handle.rawValue)] + bytes("00 0500 0100 0400 1E")]
        #expect(controller.takeEvents() == [])
        #expect(controller.takeData() == confirmation)
        if role == .peripheral {
            controller.receive(LELongTermKeyRequest(connectionHandle: handle, randomNumber: 0, encryptedDiversifier: 0))
        }
        controller.receive(EncryptionChange(status: .success, connectionHandle: handle, encryption: .on))
        _ = controller.takeEvents()
        controller.receiveFrame(bytes("1B 0300 2A"), on: 0x04, handle)
        controller.receiveFrame(bytes("1D 0300 2A"), on: 0x04, handle)
        #expect(controller.takeEvents() == ["notification 3", "indication 3"])
        #expect(controller.takeData() == confirmation)
    }

    // MARK: - Service requests

    @Test(
        "A bonded peer gets Insufficient Encryption until its link is encrypted, and the value afterwards",
        arguments: [Level.encrypted, .authenticated], LinkRole.allCases)
    func insufficientEncryption(_ level: Level, _ role: LinkRole) throws {
        var controller = SecurityTests.bonded(level.strength)
        let values = try controller.host.addService(
            GATTServiceDefinition(
                uuid: HostWorld.service,
                characteristics: [GATTPermissions.Requirement.encrypted, .authenticated].map {
                    .init(
                        uuid: HostWorld.characteristic, properties: .read, permissions: GATTPermissions(read: $0),
                        value: .constant([7]))
                }), at: controller.now
        ).characteristics.map { UInt8($0.value.rawValue) }
        _ = role == .central ? try controller.connect() : try controller.accept()
        let handle: ConnectionHandle = role == .central ? 0x40 : 0x41
        for value in values {
            _ = controller.takeData()
            controller.receiveFrame([0x0A, value, 0], on: 0x04, handle)
            #expect(
                controller.takeData()
                    == [[UInt8(handle.rawValue)] + bytes("00 0900 0500 0400 010A") + [value] + bytes("00 0F")])
        }
        if role == .peripheral {
            controller.receive(LELongTermKeyRequest(connectionHandle: handle, randomNumber: 0, encryptedDiversifier: 0))
        }
        controller.receive(EncryptionChange(status: .success, connectionHandle: handle, encryption: .on))
        for value in values.prefix(level == .authenticated ? 2 : 1) {
            _ = controller.takeData()
            controller.receiveFrame([0x0A, value, 0], on: 0x04, handle)
            #expect(controller.takeData().map { Array($0.dropFirst(8)) } == [[0x0B, 7]])
        }
    }
}
