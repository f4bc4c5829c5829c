import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import TestSupport
import Testing

/// The cases GATT/SR/GAS/BV-01 and BV-04 to BV-08. Handles: the name 0003, the appearance 0005, Service Changed 0008
/// and its descriptor 0009, Client Supported Features 000B, Database Hash 000D.
@Suite("Robust caching across links (Core 5.4, Vol 3, Part G, 2.5.2.1 and 7.2)")
struct RobustCachingTests {
    private static let name = "0A 0300", hash = "08 0100 FFFF 2A2B", cache = "12 0B00 01"
    private static let outOfSync = [bytes("01 0A 0300 12")], written = [bytes("13")]

    private var controller: ScriptedController

    init() { controller = SecurityTests.ready() }

    /// Lets the peer connect, and encrypt the link where it is bonded.
    private mutating func connect() throws {
        _ = try controller.accept()
        if !controller.host.bonds.isEmpty {
            controller.receive(LELongTermKeyRequest(connectionHandle: 0x41, randomNumber: 0, encryptedDiversifier: 0))
            controller.receive(EncryptionChange(status: .success, connectionHandle: 0x41, encryption: .on))
        }
        controller.run(for: .seconds(1))
    }

    /// A link with a bonded peer that caches.
    private mutating func connectBonded() throws {
        controller = SecurityTests.bonded()
        try connect()
        #expect(send(Self.cache) == Self.written)
    }

    private mutating func disconnect() {
        _ = sent()
        controller.reportDisconnection(0x41)
    }

    private mutating func changeDatabase() throws {
        _ = try controller.host.addService(ServiceChangedTests.definition, at: controller.now)
        controller.run(for: .seconds(1))
    }

    /// The PDUs of ATT that the host has sent.
    private mutating func sent() -> [[UInt8]] {
        controller.settle()
        return controller.takeData().filter { $0[6...7] == [0x04, 0x00] }.map { Array($0[8...]) }
    }

    /// The packets that the host sends when the peer sends a PDU.
    private mutating func send(_ pdu: String) -> [[UInt8]] {
        _ = sent()
        controller.receiveFrame(bytes(pdu), on: 0x04, 0x41)
        return sent()
    }

    /// Whether a request is served.
    private mutating func isServed(_ request: String) -> Bool {
        send(request).map(\.first) == [bytes(request)[0] + 1]
    }

    /// Whether Service Changed is all that was sent.
    private mutating func isIndicated() -> Bool {
        let pdus = sent()
        return pdus.count == 1 && pdus[0].starts(with: bytes("1D 0800"))
    }

    @Test("GATT/SR/GAS/BV-01: Service Changed is indicated to a bonded client once it has subscribed, and not before")
    mutating func serviceChanged() throws {
        controller = SecurityTests.bonded()
        try connect()
        _ = sent()
        try changeDatabase()
        #expect(sent() == [])
        #expect(send("12 0900 0200") == Self.written)
        // Each change waits for the confirmation of the one before it.
        for _ in 1...2 {
            let handles = try controller.host.addService(ServiceChangedTests.definition, at: controller.now)
            controller.run(for: .seconds(1))
            var indication = ByteWriter()
            indication.append(bytes("1D 0800"))
            indication.append(handles.range.lowerBound)
            indication.append(handles.range.upperBound)
            #expect(sent() == [indication.bytes])
            #expect(send("1E") == [])
        }
    }

    @Test("GATT/SR/GAS/BV-04: the supported features of a bonded client are kept")
    mutating func kept() throws {
        try connectBonded()
        disconnect()
        try connect()
        #expect(send("0A 0B00") == [bytes("0B 01")])
    }

    @Test("GATT/SR/GAS/BV-05: with robust caching, requests by handle are refused once, and commands ignored")
    mutating func unsynchronized() throws {
        let service = GATTServiceDefinition(
            uuid: "180F",
            characteristics: [
                .init(uuid: "2A19", properties: .writeWithoutResponse, value: .variableLength([0x64]))
            ])
        let value = try controller.host.addService(service, at: controller.now).characteristics[0].value
        let command = "52" + [UInt8(value.rawValue), 0, 7].hexadecimal()
        try connect()
        try changeDatabase()
        #expect(isServed(Self.name))
        #expect(send(Self.cache) == Self.written)

        try changeDatabase()
        #expect(send(Self.name) == Self.outOfSync)
        #expect(isServed(Self.name))

        try changeDatabase()
        #expect(send(Self.name) == Self.outOfSync)
        #expect(send(command) == [])
        #expect(controller.host.server.database.value(of: value) == [0x64])
        #expect(send("12 0B00 00") == [bytes("01 12 0B00 13")])
        #expect(send("0A 0B00") == [bytes("0B 01")])

        for request in ["0A 0D00", "08 0200 FFFF 002A"] {
            try changeDatabase()
            #expect(send(request) == [[0x01] + bytes(request)[..<3] + [0x12]])
        }
    }

    @Test(
        "GATT/SR/GAS/BV-06: a client is served once it has read the hash or confirmed Service Changed, and not before"
    )
    mutating func changedDuringLink() throws {
        try connect()
        #expect(send(Self.cache) == Self.written)
        try changeDatabase()
        #expect(isServed(Self.hash))
        #expect(isServed(Self.name))

        #expect(send("12 0900 0200") == Self.written)
        try changeDatabase()
        #expect(isIndicated())
        #expect(send("1E") == [])
        #expect(isServed(Self.name))

        try changeDatabase()
        #expect(isIndicated())
        #expect(send(Self.name) == Self.outOfSync)
    }

    @Test("GATT/SR/GAS/BV-07: a database change between a bonded client's links counts like one during a link")
    mutating func changedBetweenLinks() throws {
        try connectBonded()
        disconnect()
        try changeDatabase()
        try connect()
        #expect(isServed(Self.hash))
        #expect(isServed(Self.name))
        #expect(send("12 0900 0200") == Self.written)

        disconnect()
        try changeDatabase()
        try connect()
        #expect(isIndicated())
        #expect(send("1E") == [])
        #expect(isServed(Self.name))

        disconnect()
        try connect()
        #expect(send("12 0B00 00") == [bytes("01 12 0B00 13")])
        #expect(send("12 0900 0000") == Self.written)

        disconnect()
        try changeDatabase()
        for _ in 0..<2 {
            try connect()
            #expect(send(Self.name) == Self.outOfSync)
            disconnect()
        }
    }

    @Test("GATT/SR/GAS/BV-08: Read Multiple Variable is refused after a change until the client has read the hash")
    mutating func readMultiple() throws {
        let request = "20 0300 0500"
        try connect()
        try changeDatabase()
        #expect(isServed(request))
        #expect(send(Self.cache) == Self.written)
        try changeDatabase()
        #expect(send(request) == [bytes("01 20 0300 12")])
        #expect(isServed(Self.hash))
        #expect(isServed(request))
    }
}
