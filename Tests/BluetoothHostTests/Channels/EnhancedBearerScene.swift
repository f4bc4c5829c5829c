import BluetoothATT
import BluetoothBase
import BluetoothCrypto
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP
import BluetoothSMP
import BluetoothSimulation
import TestSupport

@testable import BluetoothHost

/// A host that is bonded with its peer, on a controller whose packets have room for a whole frame of most lengths.
struct EnhancedBearerScene {
    var controller: ScriptedController
    /// The one link, and the controller's handle of it.
    var link: LinkIdentifier!
    var handle: ConnectionHandle = 0x40

    init(bearers: Int = 2, _ configure: (inout HostConfiguration) -> Void = { _ in }) {
        controller = ScriptedController.ready([.leReadBufferSizeV2: .complete(.success, [251, 0, 8, 0, 0, 0])]) {
            $0.security = SecurityConfiguration(
                crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 1), resolvingKey: 1)
            $0.enhancedBearers = bearers
            configure(&$0)
        }
        controller.host.restore(SecurityTests.bond(), at: controller.now)
        controller.settle()
    }

    /// Connects as the central. The peer's MTU is 23 octets.
    mutating func connect(isEncrypted: Bool = true) throws {
        link = try controller.connect()
        controller.receiveFrame(bytes("03 1700"))
        if isEncrypted { encrypt() }
    }

    /// Accepts the peer as the central.
    mutating func accept(isEncrypted: Bool = true) throws {
        handle = 0x41
        link = try controller.accept()
        if isEncrypted {
            controller.receive(LELongTermKeyRequest(connectionHandle: 0x41, randomNumber: 0, encryptedDiversifier: 0))
            encrypt()
        }
    }

    mutating func encrypt(_ encryption: EncryptionChange.Encryption = .on) {
        controller.receive(EncryptionChange(status: .success, connectionHandle: handle, encryption: encryption))
        _ = sent()
        controller.seen.removeAll()
    }

    /// The payloads of the L2CAP frames that were sent since the last call, with their channels.
    mutating func sent() -> [[UInt8]] {
        controller.settle()
        return controller.takeData().map { Array($0[6...]) }
    }

    /// What is sent when the peer sends a frame.
    @discardableResult
    mutating func receive(_ payload: String, on channel: UInt8 = 0x04) -> [[UInt8]] {
        controller.receiveFrame(bytes(payload), on: channel, handle)
        return sent()
    }

    /// The peer opens so many bearers: 0x50 and 0x51 on its side, 0x40 and 0x41 on this one.
    mutating func open(_ count: Int = 2, mtu: String = "0502", credits: String = "0500") {
        let sources = ["5000", "5100", "5200"].prefix(count).joined()
        receive("17 01 \(hexadecimal(UInt8(8 + 2 * count))) 00 2700 \(mtu) 0002 \(credits) \(sources)", on: 0x05)
    }

    mutating func start(
        _ operation: GATTClientOperation, on bearer: AttributeChannel.ID = .first
    ) throws -> GATTClient.OperationID {
        try controller.host.start(operation, on: link, bearer: bearer, at: controller.now)
    }

    var bearers: [AttributeChannel.ID] { controller.host.enhancedBearers(of: link) }

    /// Publishes a characteristic; the handle of its value.
    mutating func publish(_ value: GATTAttributeValue, _ properties: GATTCharacteristicProperties) throws
        -> AttributeHandle
    {
        let handles = try controller.host.addService(
            GATTServiceDefinition(
                uuid: "180F",
                characteristics: [GATTCharacteristicDefinition(uuid: "2A19", properties: properties, value: value)]),
            at: controller.now)
        return handles.characteristics[0].value
    }
}

extension AttributeHandle {
    /// Its two octets, as `bytes` takes them.
    var text: String { hexadecimal(UInt8(truncatingIfNeeded: rawValue)) + hexadecimal(UInt8(rawValue >> 8)) }
}
