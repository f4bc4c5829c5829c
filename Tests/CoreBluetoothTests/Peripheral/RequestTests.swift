import BluetoothLE
import CoreBluetooth
import Testing
import VirtualRadio

@Suite("G: requests", .timeLimit(.minutes(30)))
struct RequestTests {
    private static let value = Data((0..<512).map { UInt8(truncatingIfNeeded: $0 * 7) })

    // MARK: - Reading

    @Test(
        "Row 70: a long read sends requests with increasing offsets, and each response is truncated to fit",
        arguments: [
            (512, 517, [0]), (512, 515, [0]), (512, 256, [0, 255, 510]), (44, 23, [0, 22, 44]), (21, 23, [0]),
        ])
    func longRead(_ length: Int, _ mtu: UInt16, _ offsets: [Int]) async throws {
        let scene = await PeripheralScene(CBMutableCharacteristic("F001", .read))
        let value = Self.value.prefix(length)
        scene.delegate.answer = { manager, requests in
            requests[0].value = value.dropFirst(requests[0].offset)
            manager.respond(to: requests[0], withResult: .success)
        }
        let central = try await scene.central(mtu: mtu)
        #expect(try await central.read(first: "F001") == [UInt8](value))
        for offset in offsets { await scene.recorder.expect("read F001 \(offset)") }
        #expect(scene.recorder.all.count { $0.hasPrefix("read") } == offsets.count)
    }

    @Test("Row 70: a read request names its central and its characteristic, and has no value")
    func request() async throws {
        let characteristic = CBMutableCharacteristic("F001", .read)
        let scene = await PeripheralScene(characteristic)
        let central = try await scene.central(mtu: 100)
        let reading = Task { try await central.read(first: "F001") }
        await scene.recorder.expect("read F001 0")
        let request = try #require(await scene.recorder.onQueue { scene.delegate.requests.first })
        #expect(request.characteristic === characteristic && request.value == nil && request.offset == 0)
        #expect(request.central.maximumUpdateValueLength == 97)
        // The answer may come from anywhere, at any time.
        request.value = Data([1, 2])
        scene.manager.respond(to: request, withResult: .success)
        #expect(try await reading.value == [1, 2])
    }

    @Test("Row 70: the application rejects an offset beyond the value")
    func offset() async throws {
        let scene = await PeripheralScene(CBMutableCharacteristic("F001", .read))
        scene.delegate.answer = { manager, requests in
            let value = Data([1, 2, 3])
            guard requests[0].offset <= value.count else {
                return manager.respond(to: requests[0], withResult: .invalidOffset)
            }
            requests[0].value = value.subdata(in: requests[0].offset..<value.count)
            manager.respond(to: requests[0], withResult: .success)
        }
        let central = try await scene.central()
        let handle = try await central.characteristic("F001").valueHandle
        guard case .value(let rest) = try await central.perform(.readLong(handle, offset: 2)) else {
            Issue.record("no value")
            return
        }
        #expect(rest == [3])
        await #expect(throws: BluetoothError.self) { _ = try await central.perform(.readLong(handle, offset: 4)) }
        await scene.recorder.expect("read F001 2", "read F001 4")
    }

    @Test("Row 70: a value longer than 512 octets is truncated")
    func tooLong() async throws {
        let scene = await PeripheralScene(CBMutableCharacteristic("F001", .read))
        scene.delegate.answer = { manager, requests in
            requests[0].value = Data(count: 600)
            manager.respond(to: requests[0], withResult: .success)
        }
        #expect(try await scene.central().read(first: "F001").count == 512)
    }

    @Test(
        "Row 70: a rejected request fails with the application's error",
        arguments: [.readNotPermitted, .insufficientAuthentication, .unlikelyError, .insufficientResources]
            + [0x80, 0xFF].compactMap { CBATTError.Code(rawValue: $0) })
    func refused(_ code: CBATTError.Code) async throws {
        let scene = await PeripheralScene(CBMutableCharacteristic("F001", [.read, .write]))
        scene.delegate.answer = { manager, requests in manager.respond(to: requests[0], withResult: code) }
        let central = try await scene.central()
        let characteristic = try await central.characteristic("F001")
        #expect(await central.refusal { try await $0.read(characteristic) } == code.rawValue)
        #expect(await central.refusal { try await $0.write([1], to: characteristic) } == code.rawValue)
        #expect(
            await central.refusal { try await $0.write([UInt8](Self.value), to: characteristic) } == code.rawValue)
    }

    @Test("Row 70: a second response is ignored and logged")
    func secondAnswer() async throws {
        let log = Log()
        let scene = await PeripheralScene(CBMutableCharacteristic("F001", .read))
        scene.delegate.answer = { manager, requests in
            requests[0].value = Data([1])
            manager.respond(to: requests[0], withResult: .success)
            requests[0].value = Data([2])
            manager.respond(to: requests[0], withResult: .success)
            #expect(log.contains("API MISUSE: \(requests[0]) was already answered"))
        }
        let central = try await scene.central()
        #expect(try await central.read(first: "F001") == [1])
        #expect(try await central.read(first: "F001") == [1])
    }

    @Test("Requests that the permissions forbid are rejected without the delegate")
    func notPermitted() async throws {
        let scene = await PeripheralScene(
            CBMutableCharacteristic("F001", .write), CBMutableCharacteristic("F002", .read))
        let central = try await scene.central()
        let (written, read) = (try await central.characteristic("F001"), try await central.characteristic("F002"))
        let before = scene.recorder.all
        #expect(await central.refusal { try await $0.read(written) } == CBATTError.readNotPermitted.rawValue)
        #expect(await central.refusal { try await $0.write([1], to: read) } == CBATTError.writeNotPermitted.rawValue)
        #expect(await scene.recorder.onQueue { scene.recorder.all } == before)
    }

    @Test("Row 78: an unencrypted central cannot access a value that requires encryption")
    func encryption() async throws {
        let characteristic = CBMutableCharacteristic(
            type: CBUUID(string: "F001"), properties: [.read, .write, .notifyEncryptionRequired], value: nil,
            permissions: [.readEncryptionRequired, .writeEncryptionRequired])
        let scene = await PeripheralScene(characteristic)
        let central = try await scene.central()
        let found = try await central.characteristic("F001")
        let before = scene.recorder.all
        let expected = [CBATTError.insufficientAuthentication.rawValue, CBATTError.insufficientEncryption.rawValue]
        #expect(expected.contains(await central.refusal { try await $0.read(found) } ?? 0))
        #expect(expected.contains(await central.refusal { try await $0.write([1], to: found) } ?? 0))
        #expect(expected.contains(await central.refusal { _ = try await $0.notifications(of: found) } ?? 0))
        #expect(await scene.recorder.onQueue { scene.recorder.all } == before)
    }

    // MARK: - Writing

    @Test("Row 71: a write arrives as one request with its value")
    func write() async throws {
        let scene = await PeripheralScene(CBMutableCharacteristic("F001", .write))
        scene.delegate.answer = { manager, requests in manager.respond(to: requests[0], withResult: .success) }
        let central = try await scene.central()
        let characteristic = try await central.characteristic("F001")
        try await central.write([1, 2, 3], to: characteristic)
        try await central.write([], to: characteristic)
        await scene.recorder.expect("write F001 0 010203", "write F001 0 ")
    }

    @Test("Row 71: write commands arrive in order, and responding to them has no effect")
    func commands() async throws {
        let scene = await PeripheralScene(CBMutableCharacteristic("F001", .writeWithoutResponse))
        scene.delegate.answer = { manager, requests in
            manager.respond(to: requests[0], withResult: .success)
            manager.respond(to: requests[0], withResult: .unlikelyError)
        }
        let central = try await scene.central()
        let characteristic = try await central.characteristic("F001")
        for number in 0..<100 as Range<UInt8> {
            try await central.writeWithoutResponse([number], to: characteristic)
        }
        for number in 0..<100 { await scene.recorder.expect("write F001 0 \(String(format: "%02x", number))") }
    }

    @Test("Row 71: the parts of a long write arrive together, and the response to the first answers all")
    func longWrite() async throws {
        let log = Log()
        let scene = await PeripheralScene(CBMutableCharacteristic("F001", .write))
        let central = try await scene.central(mtu: 64)
        let characteristic = try await central.characteristic("F001")
        let writing = Task { try await central.write([UInt8](Self.value), to: characteristic) }
        await scene.recorder.skip(to: "write F001")
        let requests = await scene.recorder.onQueue { scene.delegate.requests }
        #expect(requests.map(\.offset) == Array(stride(from: 0, to: 512, by: 59)))
        #expect(requests.compactMap(\.value).reduce(Data(), +) == Self.value)
        #expect(Set(requests.map { ObjectIdentifier($0.central) }).count == 1)
        // Another than the first is not answered: the central still waits.
        scene.manager.respond(to: requests[1], withResult: .unlikelyError)
        #expect(log.contains("API MISUSE: \(requests[1]) was already answered, or is not the first"))
        scene.manager.respond(to: requests[0], withResult: .success)
        try await writing.value
    }

    @Test("Row 71: writes to several characteristics arrive together, and are accepted or rejected as a whole")
    func severalCharacteristics() async throws {
        let scene = await PeripheralScene(
            CBMutableCharacteristic("F001", .write), CBMutableCharacteristic("F002", .write))
        let central = try await scene.central()
        let values = [
            AttributeValue(handle: try await central.characteristic("F002").valueHandle, value: [1, 2]),
            AttributeValue(handle: try await central.characteristic("F001").valueHandle, value: [3]),
            AttributeValue(handle: try await central.characteristic("F002").valueHandle, value: [4]),
        ]
        var results: [CBATTError.Code] = [.success, .insufficientResources]
        scene.delegate.answer = { manager, requests in
            manager.respond(to: requests[0], withResult: results.removeFirst())
        }
        _ = try await central.perform(.writeReliably(values))
        #expect(await central.refusal { _ = try await $0.perform(.writeReliably(values)) } == 17)
        let line = "write F002 0 0102, F001 0 03, F002 0 04"
        await scene.recorder.expect(line, line)
    }

    @Test("Row 71: queued writes to the stack's own descriptors do not reach the application")
    func ownDescriptor() async throws {
        let scene = await PeripheralScene(CBMutableCharacteristic("F001", [.write, .notify]))
        let central = try await scene.central()
        let characteristic = try await central.characteristic("F001")
        let descriptor = try #require(try await central.discoverDescriptors(of: characteristic).first)
        scene.delegate.answer = { manager, requests in manager.respond(to: requests[0], withResult: .success) }
        _ = try await central.perform(
            .writeReliably([
                AttributeValue(handle: descriptor.handle, value: [1, 0]),
                AttributeValue(handle: characteristic.valueHandle, value: [5]),
            ]))
        await scene.recorder.expect("write F001 0 05", "subscribed F001")
    }

    @Test("Requests from two centrals are distinct, and may be answered in any order")
    func twoCentrals() async throws {
        let scene = await PeripheralScene(CBMutableCharacteristic("F001", .read))
        let (first, second) = (try await scene.central(), try await scene.central())
        let firstReading = Task { try await first.read(first: "F001") }
        await scene.recorder.expect("read F001 0")
        let secondReading = Task { try await second.read(first: "F001") }
        await scene.recorder.expect("read F001 0")
        let requests = await scene.recorder.onQueue { scene.delegate.requests }
        try #require(requests.count == 2)
        #expect(requests[0].central !== requests[1].central)
        #expect(requests[0].central.identifier != requests[1].central.identifier)
        for (index, request) in requests.enumerated().reversed() {
            request.value = Data([UInt8(index)])
            scene.manager.respond(to: request, withResult: .success)
        }
        #expect(try await secondReading.value == [1])
        #expect(try await firstReading.value == [0])
    }

    // MARK: - Nobody to ask

    @Test("Row 72: without a delegate, or without its method, a request is rejected", arguments: [true, false])
    func nobody(_ hasDelegate: Bool) async throws {
        final class Silent: NSObject, CBPeripheralManagerDelegate {
            func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
        }
        let scene = await PeripheralScene(CBMutableCharacteristic("F001", [.read, .write, .writeWithoutResponse]))
        let central = try await scene.central()
        let silent = Silent()
        scene.manager.delegate = hasDelegate ? silent : nil
        let characteristic = try await central.characteristic("F001")
        try await central.writeWithoutResponse([1], to: characteristic)
        let expected = (hasDelegate ? CBATTError.requestNotSupported : .unlikelyError).rawValue
        #expect(await central.refusal { try await $0.read(characteristic) } == expected)
        #expect(await central.refusal { try await $0.write([1], to: characteristic) } == expected)
        #expect(await central.refusal { try await $0.write([UInt8](Self.value), to: characteristic) } == expected)
    }

    @Test("A request to a service that is being removed is rejected")
    func removedMeanwhile() async throws {
        let service = CBMutableService("AAA0", [CBMutableCharacteristic("F001", .read)])
        let scene = await PeripheralScene()
        await scene.add(service)
        let central = try await scene.central()
        let characteristic = try await central.characteristic("F001")
        let reading = Task { await central.refusal { try await $0.read(characteristic) } }
        await scene.recorder.expect("read F001 0")
        scene.manager.remove(service)
        let request = try #require(await scene.recorder.onQueue { scene.delegate.requests.first })
        scene.manager.respond(to: request, withResult: .attributeNotFound)
        // A client that hears of the removal first does not wait for what a removed service answers.
        #expect([CBATTError.attributeNotFound.rawValue, nil].contains(await reading.value))
        // It may take a moment to be gone.
        await until("it is gone") {
            await central.refusal { try await $0.read(characteristic) } == CBATTError.invalidHandle.rawValue
        }
    }
}

extension Connection {
    /// The ATT error that a call ends with; nil where it does not.
    func refusal(_ body: (Connection) async throws -> some Any) async -> Int? {
        do {
            _ = try await body(self)
            return nil
        } catch {
            guard let refusal = (error as? BluetoothError)?.attError else { return nil }
            return Int(refusal.code.rawValue)
        }
    }
}
