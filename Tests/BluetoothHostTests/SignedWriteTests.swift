import BluetoothATT
import BluetoothBase
import BluetoothCrypto
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothSMP
import BluetoothSimulation
import TestSupport
import Testing

/// Signed writes to and from a bonded peer (Core 5.4, Vol 3, Part C, 10.4).
@Suite("Signed writes")
struct SignedWriteTests {
    static let key: UInt128 = 0x4022_79E0_BCF9_2D28_5D43_2F94_7C4F_9E4B
    static let crypto = LibraryToolbox()

    /// A host that is bonded with the peer of the script, and a value that takes signed writes alone.
    private func bonded(
        as role: LinkRole = .peripheral, needsConsent: Bool = false, storesBonds: Bool = false,
        requirement: GATTPermissions.Requirement = .encrypted
    ) throws -> (controller: ScriptedController, link: LinkIdentifier, value: AttributeHandle) {
        var controller = SecurityTests.ready { $0.storesBonds = storesBonds }
        let permissions = GATTPermissions(
            read: .open, write: requirement, writeNeedsAuthorization: needsConsent, acceptsSignedWrites: true)
        let definition = GATTServiceDefinition(
            uuid: "F200",
            characteristics: [
                .init(
                    uuid: "F201", properties: [.read, .authenticatedSignedWrites], permissions: permissions,
                    value: .variableLength([0], maximum: 8))
            ])
        let handles = try controller.host.addService(definition, at: controller.now)
        var bond = Bond(
            peer: PeerID(ScriptedController.peer), address: ScriptedController.peer,
            strength: KeyStrength(model: .justWorks, usesSecureConnections: true, keySize: 16))
        bond.peripheralKey = LongTermKey(key: 1)
        bond.peerSignature = SignatureKey(key: Self.key, counter: 5)
        bond.localSignature = SignatureKey(key: Self.key, counter: 700)
        controller.host.restore(bond, at: controller.now)
        let link = role == .central ? try controller.connect(Self.connection) : try controller.accept(Self.connection)
        return (controller, link, handles.characteristics[0].value)
    }

    static let connection: ConnectionHandle = 0x41

    /// What the host sends when the peer reads a value.
    private func read(_ value: AttributeHandle, _ controller: inout ScriptedController) -> [[UInt8]] {
        _ = controller.takeData()
        controller.receiveFrame([0x0A, UInt8(value.rawValue), 0], on: 0x04, 0x41)
        return controller.takeData().map { Array($0.dropFirst(8)) }
    }

    /// A Signed Write Command of the peer.
    private func pdu(
        _ value: [UInt8], to handle: AttributeHandle, counter: UInt32, key: UInt128 = Self.key
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(0xD2 as UInt8)
        writer.append(handle)
        for octet in value { writer.append(octet) }
        let signature = Self.crypto.signature(key: key, message: writer.span, counter: counter)
        writer.append(counter)
        writer.append(signature)
        return writer.bytes
    }

    @Test(
        "SM/CEN/SIGN/BV-03, GAP/SEC/CSIGN/BV-02: a value with a valid signature is written, and its counter is used up",
        arguments: LinkRole.allCases)
    func written(_ role: LinkRole) throws {
        var (controller, _, value) = try bonded(as: role)
        controller.receiveFrame(pdu([7, 8], to: value, counter: 5), on: 0x04, 0x41)
        #expect(controller.host.server.database.value(of: value) == [7, 8])
        #expect(controller.takeEvents().last == "written \(value.rawValue)")
        #expect(read(value, &controller) == [[0x0B, 7, 8]])
        #expect(controller.host.bonds.first?.peerSignature?.counter == 6)
        // Counters may be skipped.
        controller.receiveFrame(pdu([9], to: value, counter: 100), on: 0x04, 0x41)
        #expect(controller.host.server.database.value(of: value) == [9])
        #expect(controller.host.bonds.first?.peerSignature?.counter == 101)
    }

    @Test(
        "A16, SM/CEN/SIGN/BI-01, GAP/SEC/CSIGN/BI-01: a write with a wrong signature is ignored", arguments: 0..<6,
        LinkRole.allCases)
    func refused(_ row: Int, _ role: LinkRole) throws {
        var (controller, _, value) = try bonded(as: role)
        #expect(read(value, &controller) == [[0x0B, 0]])
        let valid = pdu([7], to: value, counter: 5)
        let wrong: [[UInt8]] = [
            // Another key, another value, a counter that was used before, one bit, no signature, the last counter.
            pdu([7], to: value, counter: 5, key: Self.key ^ 1),
            valid[..<3] + [8] + valid[4...],
            pdu([7], to: value, counter: 4),
            valid.dropLast() + [valid[valid.count - 1] ^ 0x80],
            Array(valid.dropLast(12)),
            pdu([7], to: value, counter: .max),
        ]
        controller.receiveFrame(wrong[row], on: 0x04, 0x41)
        #expect(controller.host.server.database.value(of: value) == [0])
        #expect(controller.host.bonds.first?.peerSignature?.counter == 5)
        #expect(controller.takeData() == [], "a command is not answered")
        #expect(!controller.seen.contains { if case .server = $0.event { true } else { false } })
        #expect(read(value, &controller) == [[0x0B, 0]])
        // The link goes on, and a valid one is taken.
        controller.receiveFrame(valid, on: 0x04, 0x41)
        #expect(controller.host.server.database.value(of: value) == [7])
    }

    @Test("GATT/SR/GAW/BI-40: a value that is too long is not written, even with a valid signature")
    func tooLong() throws {
        var (controller, _, value) = try bonded()
        let longest = [UInt8](repeating: 7, count: 8)
        #expect(read(value, &controller) == [[0x0B, 0]])
        controller.receiveFrame(pdu(longest + [8], to: value, counter: 5), on: 0x04, 0x41)
        controller.run(for: .seconds(1))
        #expect(controller.host.server.database.value(of: value) == [0])
        #expect(!controller.takeData().contains { $0[6] == 0x04 })
        #expect(read(value, &controller) == [[0x0B, 0]])
        controller.receiveFrame(pdu(longest, to: value, counter: 5), on: 0x04, 0x41)
        #expect(controller.host.server.database.value(of: value) == longest)
    }

    @Test(
        "SM/SIGN/BI-02, GAP/SEC/CSIGN/BI-02: a signed write with a used counter is ignored, and the next is accepted",
        arguments: LinkRole.allCases)
    func counter(_ role: LinkRole) throws {
        var (controller, _, value) = try bonded(as: role)
        func send(_ octet: UInt8, _ counter: UInt32) -> [UInt8]? {
            controller.receiveFrame(pdu([octet], to: value, counter: counter), on: 0x04, 0x41)
            return controller.host.server.database.value(of: value).map { Array($0) }
        }
        #expect(send(7, 5) == [7])
        // The last one again, with the same value and with others.
        for octet in [7, 8, 9] as [UInt8] { #expect(send(octet, 5) == [7]) }
        #expect(controller.host.faults[.signatureInvalid] == 3)
        #expect(send(10, 6) == [10])
        // And one before the last.
        #expect(send(11, 5) == [10])
    }

    @Test("GAP/SEC/CSIGN/BI-03: a signed write from a peer whose bond was removed is ignored, and no pairing follows")
    func withoutBond() throws {
        var (controller, _, value) = try bonded()
        controller.reportDisconnection(Self.connection)
        #expect(controller.host.removeBond(with: PeerID(ScriptedController.peer), at: controller.now) != nil)
        controller.settle()
        _ = try controller.accept(Self.connection)
        controller.receiveFrame(pdu([7], to: value, counter: 5), on: 0x04, 0x41)
        controller.run(for: .seconds(1))
        #expect(controller.host.server.database.value(of: value) == [0])
        // Channel 6 is the Security Manager's.
        #expect(!controller.takeData().contains { $0.count > 7 && $0[6] == 0x06 })
        #expect(!controller.seen.contains { if case .security = $0.event { true } else { false } })
    }

    @Test(
        "GAP/SEC/CSIGN/BI-04: a value that needs an authenticated key rejects signatures of a bond made by Just Works")
    func unauthenticated() throws {
        var (controller, _, value) = try bonded(requirement: .authenticated)
        controller.receiveFrame(pdu([7], to: value, counter: 5), on: 0x04, 0x41)
        #expect(controller.host.server.database.value(of: value) == [0])
        #expect(controller.takeEvents().allSatisfy { !$0.hasPrefix("written") })
    }

    @Test("The application is asked about a signed write only after its signature is verified")
    func consent() throws {
        var (controller, _, value) = try bonded(needsConsent: true)
        controller.receiveFrame(pdu([7], to: value, counter: 5, key: Self.key ^ 1), on: 0x04, 0x41)
        #expect(!controller.seen.contains { if case .server = $0.event { true } else { false } })
        for octet in [7, 8] as [UInt8] {
            controller.receiveFrame(pdu([octet], to: value, counter: UInt32(octet)), on: 0x04, 0x41)
        }
        let requests = controller.seen.compactMap {
            if case .server(_, .authorizationRequested(let request, value, .write)) = $0.event { request } else { nil }
        }
        #expect(requests.count == 1)
        #expect(controller.host.server.database.value(of: value) == [0])
        _ = controller.takeEvents()
        try controller.host.authorize(try #require(requests.first), at: controller.now)
        controller.settle()
        #expect(controller.takeEvents() == ["written \(value.rawValue)", "written \(value.rawValue)"])
        #expect(controller.host.server.database.value(of: value) == [8])
    }

    @Test("A signed write over an encrypted link is ignored: a plain write belongs there")
    func encrypted() throws {
        var (controller, _, value) = try bonded()
        controller.receive(LELongTermKeyRequest(connectionHandle: 0x41, randomNumber: 0, encryptedDiversifier: 0))
        controller.receive(EncryptionChange(connectionHandle: 0x41, encryption: .on))
        controller.receiveFrame(pdu([7], to: value, counter: 5), on: 0x04, 0x41)
        #expect(controller.host.server.database.value(of: value) == [0])
        controller.receiveFrame([0x52, UInt8(value.rawValue), 0, 7], on: 0x04, 0x41)
        #expect(controller.host.server.database.value(of: value) == [7])
    }

    @Test(
        "SM/CEN/SIGN/BV-01, GAP/SEC/CSIGN/BV-01: a write is signed, and each counter is stored as used before its use",
        arguments: LinkRole.allCases)
    func sent(_ role: LinkRole) throws {
        var (controller, link, _) = try bonded(as: role)
        #expect(try controller.host.writeSigned([1, 2].span, to: 0x0020, on: link))
        #expect(controller.host.bonds.first?.localSignature?.counter == 800)
        controller.settle()
        let sent = pdu([1, 2], to: 0x0020, counter: 700)
        #expect(controller.takeData().last.map { Array($0.dropFirst(8)) } == sent)
        #expect(try controller.host.writeSigned([3].span, to: 0x0020, on: link))
        controller.settle()
        #expect(
            controller.takeData().last.map { Array($0.dropFirst(8)) } == pdu([3], to: 0x0020, counter: 701))
        #expect(controller.host.bonds.first?.localSignature?.counter == 800)
    }

    @Test("A value that does not fit into the ATT_MTU together with its signature is not signed")
    func tooLongToSign() throws {
        var (controller, link, _) = try bonded()
        let longest = [UInt8](repeating: 7, count: 8), tooLong = longest + [7]
        #expect(throws: HostError.client(.valueTooLong(maximum: 8))) {
            _ = try controller.host.writeSigned(tooLong.span, to: 0x0020, on: link)
        }
        #expect(try controller.host.writeSigned(longest.span, to: 0x0020, on: link))
        controller.settle()
        #expect(controller.takeData().map { Array($0.dropFirst(8)) } == [pdu(longest, to: 0x0020, counter: 700)])
    }

    @Test("With stored bonds, a write is signed once its counter is stored as used", arguments: [true, false])
    func storedBeforeSending(_ isStored: Bool) throws {
        var (controller, link, _) = try bonded(storesBonds: true)
        for octet in [1, 2] as [UInt8] {
            #expect(try controller.host.writeSigned([octet].span, to: 0x0020, on: link))
        }
        controller.settle()
        #expect(controller.takeData() == [])
        let bond = try #require(controller.host.bonds.first)
        #expect(bond.localSignature?.counter == 800)
        // A bond from before the reservation does not release the writes.
        var before = bond
        before.localSignature?.counter = 700
        controller.host.bondUpdateWritten(before, isStored: true, at: controller.now)
        controller.settle()
        #expect(controller.takeData() == [])
        controller.host.bondUpdateWritten(bond, isStored: isStored, at: controller.now)
        controller.settle()
        let sent = isStored ? [pdu([1], to: 0x0020, counter: 700), pdu([2], to: 0x0020, counter: 701)] : []
        #expect(controller.takeData().map { Array($0.dropFirst(8)) } == sent)
    }

    @Test("With stored bonds, a signed write takes effect once its counter cannot be used again")
    func storedBeforeWriting() throws {
        var (controller, _, value) = try bonded(storesBonds: true)
        for octet in [7, 8] as [UInt8] {
            controller.receiveFrame(pdu([octet], to: value, counter: UInt32(octet)), on: 0x04, 0x41)
        }
        #expect(controller.host.server.database.value(of: value) == [0])
        var bond = try #require(controller.host.bonds.first)
        #expect(bond.peerSignature?.counter == 9)
        bond.peerSignature?.counter = 8
        controller.host.bondUpdateWritten(bond, isStored: true, at: controller.now)
        #expect(controller.host.server.database.value(of: value) == [7])
        bond.peerSignature?.counter = 9
        controller.host.bondUpdateWritten(bond, isStored: false, at: controller.now)
        #expect(controller.host.server.database.value(of: value) == [7], "it could be replayed")
    }
}
