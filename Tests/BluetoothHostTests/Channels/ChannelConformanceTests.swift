import BluetoothBase
import BluetoothHCI
import BluetoothL2CAP
import BluetoothSMP
import BluetoothSimulation
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("L2CAP conformance: channels over a link")
struct ChannelConformanceTests {
    /// The payloads of the L2CAP frames that were sent, with their channels.
    private func sent(_ controller: inout ScriptedController) -> [[UInt8]] {
        controller.takeData().map { Array($0[6...]) }
    }

    // MARK: Security

    enum Lack: String, CaseIterable {
        case authentication, authorization, keySize, encryption

        var requirement: ChannelRequirement {
            switch self {
            case .authentication: .authenticated
            case .authorization: ChannelRequirement(isAuthorized: true)
            case .keySize: ChannelRequirement(minimumKeySize: 16)
            case .encryption: .encrypted
            }
        }

        var result: UInt8 {
            switch self {
            case .authentication: 0x05
            case .authorization: 0x06
            case .keySize: 0x07
            case .encryption: 0x08
            }
        }
    }

    @Test(
        """
        L2CAP/LE/CFC/BV-11, BV-13, BV-15, BV-25, L2CAP/ECFC/BV-11, BV-13, BV-15, BV-32: a service refuses a channel \
        over a link that lacks what it requires
        """, arguments: Lack.allCases, [false, true])
    func requirements(_ lack: Lack, _ isEnhanced: Bool) throws {
        // If encryption or a longer key is missing, the peer has a key, and so a bond; otherwise it has none.
        let isBonded = lack == .keySize || lack == .encryption
        var controller =
            isBonded
            ? SecurityTests.bonded(
                KeyStrength(model: .justWorks, usesSecureConnections: true, keySize: lack == .keySize ? 7 : 16))
            : SecurityTests.ready()
        _ = try controller.host.listen(on: 0x80, listener: ChannelListener(requirement: lack.requirement))
        _ = try controller.accept()
        if lack == .keySize {
            controller.receive(LELongTermKeyRequest(connectionHandle: 0x41, randomNumber: 0, encryptedDiversifier: 0))
            controller.receive(EncryptionChange(connectionHandle: 0x41, encryption: .on))
        }
        _ = sent(&controller)
        controller.seen.removeAll()
        let result = hexadecimal(lack.result)
        if isEnhanced {
            controller.receiveFrame(bytes("17 01 0A00 8000 6400 4000 0200 5000"), on: 0x05, 0x41)
            #expect(sent(&controller) == [bytes("0500 18 01 0A00 0000 0000 0000 \(result)00 0000")])
        } else {
            controller.receiveFrame(bytes("14 01 0A00 8000 5000 6400 1700 0200"), on: 0x05, 0x41)
            #expect(sent(&controller) == [bytes("0500 15 01 0A00 0000 0000 0000 0000 \(result)00")])
        }
        #expect(!controller.seen.contains { if case .channel = $0.event { true } else { false } })
    }

    // MARK: Fragments

    static let requests = [
        ("14 01 0A00 8000 5000 6400 4000 0200", "0500 15 01 0A00 4000 0001 4000 0400 0000"),
        ("17 01 0A00 8000 6400 4000 0200 5000", "0500 18 01 0A00 0001 4000 0400 0000 4000"),
    ]

    private func listening() throws -> ScriptedController {
        var controller = ScriptedController.ready()
        _ = try controller.host.listen(
            on: 0x80, listener: ChannelListener(parameters: ChannelParameters(mtu: 256, mps: 64, window: 4)))
        _ = try controller.connect()
        return controller
    }

    @Test(
        "L2CAP/LE/CFC/BV-30, L2CAP/ECFC/BV-39: a connection request in two fragments is reassembled and answered",
        arguments: requests)
    func fragmentedCommand(_ request: String, _ response: String) throws {
        let frame = frame(bytes(request), on: 0x05)
        for count in 1..<frame.count {
            var controller = try listening()
            controller.receiveFragment(Array(frame[..<count]))
            #expect(sent(&controller) == [])
            controller.receiveFragment(Array(frame[count...]), 0x40, .continuing)
            #expect(sent(&controller) == [bytes(response)])
        }
    }

    @Test(
        "L2CAP/LE/CFC/BV-31, L2CAP/ECFC/BV-41: a K-frame of ten octets in two fragments is reassembled",
        arguments: requests)
    func fragmentedData(_ request: String, _ response: String) throws {
        let frame = frame(bytes("0800 0102030405060708"), on: 0x40)
        for count in 1..<frame.count {
            var controller = try listening()
            controller.receiveFrame(bytes(request), on: 0x05)
            controller.seen.removeAll()
            controller.receiveFragment(Array(frame[..<count]))
            #expect(controller.seen.isEmpty)
            controller.receiveFragment(Array(frame[count...]), 0x40, .continuing)
            #expect(controller.seen.map(\.bytes) == [bytes("0102030405060708")])
        }
    }

    @Test(
        "L2CAP/COS/CED/BI-05, BI-18: a request in a frame longer than declared opens no channel; the next one does",
        arguments: requests)
    func frameTooShort(_ request: String, _ response: String) throws {
        var controller = try listening()
        var frame = frame(bytes(request), on: 0x05)
        frame[0] = 13
        controller.receiveFragment(frame)
        // The claimed length makes it a command without its last octet: it may be rejected, but not carried out.
        #expect(sent(&controller).allSatisfy { $0[2] == 0x01 })
        #expect(!controller.seen.contains { if case .channel = $0.event { true } else { false } })
        controller.receiveFrame(bytes(request), on: 0x05)
        #expect(sent(&controller) == [bytes(response)])
    }

    // MARK: Connection parameters

    @Test("L2CAP/LE/CPU/BV-01: a peripheral requests parameters over L2CAP if it cannot over the link layer")
    func parametersOfPeripheral() throws {
        var controller = ScriptedController.ready()
        let link = try controller.accept()
        _ = try controller.host.updateParameters(
            ConnectionParameters(intervalMin: 24, intervalMax: 40, latency: 4, timeout: 500), of: link,
            at: controller.now)
        controller.settle()
        #expect(controller.takeOpcodes() == [])
        #expect(sent(&controller) == [bytes("0500 12 01 0800 1800 2800 0400 F401")])
        controller.receiveFrame(bytes("13 01 0200 0000"), on: 0x05, 0x41)
        #expect(sent(&controller) == [])
    }

    @Test(
        "L2CAP/LE/CPU/BV-02, BI-01: a central accepts and applies valid parameters; it rejects a latency above 499",
        arguments: [("0400", "0000"), ("0002", "0100"), ("F401", "0100")])
    func parametersForPeripheral(_ latency: String, _ result: String) throws {
        var controller = ScriptedController.ready()
        _ = try controller.connect()
        controller.receiveFrame(bytes("12 01 0800 1800 2800 \(latency) F401"), on: 0x05)
        #expect(sent(&controller) == [bytes("0500 13 01 0200 \(result)")])
        // The link's handle, and the parameters in the order of the request.
        let command = ScriptedController.Command(
            opcode: .leConnectionUpdate, parameters: bytes("4000 1800 2800 0400 F401 0000 0000"))
        #expect(controller.commands == (result == "0000" ? [command] : []))
    }

    @Test("L2CAP/LE/CPU/BI-02: a peripheral rejects a request for connection parameters")
    func parametersFromCentral() throws {
        var controller = ScriptedController.ready()
        _ = try controller.accept()
        controller.receiveFrame(bytes("12 01 0800 1800 2800 0002 F401"), on: 0x05, 0x41)
        #expect(sent(&controller) == [bytes("0500 01 01 0200 0000")])
        #expect(controller.commands == [])
    }

    // MARK: Channel identifiers

    @Test(
        "L2CAP/LE/CID/BI-01: a frame on a channel that LE does not have is ignored",
        arguments: [0x0001, 0x0002, 0x0003, 0x0007, 0x0019, 0x003F, 0x0100, 0xFFFF] as [UInt16])
    func unsupported(_ channel: UInt16) throws {
        var controller = try listening()
        var frame = frame(bytes("0A 0300"))
        (frame[2], frame[3]) = (UInt8(truncatingIfNeeded: channel), UInt8(truncatingIfNeeded: channel >> 8))
        controller.receiveFragment(frame)
        #expect(sent(&controller) == [] && controller.takeEvents() == [])
    }
}
