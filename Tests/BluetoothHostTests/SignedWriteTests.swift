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
    static let crypto = SwiftCryptoToolbox()

    /// A host that is bonded with the peer of the script, and a value that takes signed writes alone.
    private func bonded(needsConsent: Bool = false) throws -> (
        controller: ScriptedController, link: LinkIdentifier, value: AttributeHandle
    ) {
        var controller = SecurityTests.ready()
        let permissions = GATTPermissions(
            write: .encrypted, writeNeedsAuthorization: needsConsent, acceptsSignedWrites: true)
        let definition = GATTServiceDefinition(
            uuid: "F200",
            characteristics: [
                .init(
                    uuid: "F201", properties: .authenticatedSignedWrites, permissions: permissions,
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
        let link = try controller.accept()
        return (controller, link, handles.characteristics[0].value)
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

    @Test("GAP/SEC/CSIGN/BV-02: a value with a valid signature is written, and its counter is used up")
    func written() throws {
        var (controller, _, value) = try bonded()
        controller.receiveFrame(pdu([7, 8], to: value, counter: 5), on: 0x04, 0x41)
        #expect(controller.host.server.database.value(of: value) == [7, 8])
        #expect(controller.takeEvents().last == "written \(value.rawValue)")
        #expect(controller.host.bonds.first?.peerSignature?.counter == 6)
        // Counters may be skipped.
        controller.receiveFrame(pdu([9], to: value, counter: 100), on: 0x04, 0x41)
        #expect(controller.host.server.database.value(of: value) == [9])
        #expect(controller.host.bonds.first?.peerSignature?.counter == 101)
    }

    @Test("A16, GAP/SEC/CSIGN/BI-01..04: what is not signed rightly is ignored", arguments: 0..<6)
    func refused(_ row: Int) throws {
        var (controller, _, value) = try bonded()
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
        // The link goes on, and a valid one is taken.
        controller.receiveFrame(valid, on: 0x04, 0x41)
        #expect(controller.host.server.database.value(of: value) == [7])
    }

    @Test("GATT/SR/GAW/BI-40: a value that is too long is not written, however well it is signed")
    func tooLong() throws {
        var (controller, _, value) = try bonded()
        let longest = [UInt8](repeating: 7, count: 8)
        controller.receiveFrame(pdu(longest + [8], to: value, counter: 5), on: 0x04, 0x41)
        #expect(controller.host.server.database.value(of: value) == [0])
        #expect(controller.takeData() == [])
        controller.receiveFrame(pdu(longest, to: value, counter: 5), on: 0x04, 0x41)
        #expect(controller.host.server.database.value(of: value) == longest)
    }

    @Test("A signed write that is sent again is ignored")
    func counter() throws {
        var (controller, _, value) = try bonded()
        let first = pdu([7], to: value, counter: 5)
        controller.receiveFrame(first, on: 0x04, 0x41)
        controller.receiveFrame(pdu([8], to: value, counter: 6), on: 0x04, 0x41)
        controller.receiveFrame(first, on: 0x04, 0x41)
        #expect(controller.host.server.database.value(of: value) == [8])
        #expect(controller.host.faults[.signatureInvalid] == 1)
    }

    @Test("The application is asked about a signed write once its signature is known to be right")
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

    @Test("A signature over an encrypted link is ignored: a plain write belongs there")
    func encrypted() throws {
        var (controller, _, value) = try bonded()
        controller.receive(LELongTermKeyRequest(connectionHandle: 0x41, randomNumber: 0, encryptedDiversifier: 0))
        controller.receive(EncryptionChange(connectionHandle: 0x41, encryption: .on))
        controller.receiveFrame(pdu([7], to: value, counter: 5), on: 0x04, 0x41)
        #expect(controller.host.server.database.value(of: value) == [0])
        controller.receiveFrame([0x52, UInt8(value.rawValue), 0, 7], on: 0x04, 0x41)
        #expect(controller.host.server.database.value(of: value) == [7])
    }

    @Test("GAP/SEC/CSIGN/BV-01: a write is signed, and each counter is stored as used before it is")
    func sent() throws {
        var (controller, link, _) = try bonded()
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
}
