import BluetoothLE
import CoreBluetooth
import Testing
import VirtualRadio

@Suite("F: reading, writing, notifying", .timeLimit(.minutes(30)))
struct ValueTests {
    /// Answers requests for the dynamic value: reads with `value`, writes by keeping them.
    static func serve(
        _ scene: CentralScene, value: [UInt8] = [], refusal: ATTErrorCode? = nil
    ) throws -> Task<Void, any Error> {
        let events = try scene.local(CentralScene.dynamic).events
        return Task {
            for try await event in events {
                switch event {
                case .readRequested(let request):
                    if let refusal { try await request.refuse(refusal) } else { try await request.respond(value) }
                case .writeRequested(let request):
                    if let refusal { try await request.refuse(refusal) } else { try await request.accept() }
                default: continue
                }
            }
        }
    }

    @Test("Row 49: requests are carried out and answered in the order of the calls")
    func order() async throws {
        let scene = try await CentralScene()
        let (peripheral, characteristics) = try await scene.discovered()
        let server = try Self.serve(scene, value: [5])
        defer { server.cancel() }
        let (stored, dynamic) = (
            try #require(characteristics[CentralScene.stored]), try #require(characteristics[CentralScene.dynamic])
        )
        peripheral.readValue(for: stored)
        peripheral.writeValue(Data([7]), for: stored, type: .withResponse)
        peripheral.writeValue(Data([8]), for: stored, type: .withoutResponse)
        peripheral.readValue(for: stored)
        peripheral.readValue(for: dynamic)
        peripheral.discoverDescriptors(for: stored)
        peripheral.writeValue(Data([9]), for: dynamic, type: .withResponse)
        await scene.recorder.expect(
            "value F001 010203 -", "written F001 -", "value F001 08 -", "value F002 05 -", "descriptors F001 -",
            "written F002 -")
    }

    @Test("Row 50: notified values arrive in order, and the newest is kept")
    func values() async throws {
        let scene = try await CentralScene()
        let (peripheral, characteristics) = try await scene.discovered()
        let notified = try #require(characteristics[CentralScene.notified])
        peripheral.setNotifyValue(true, for: notified)
        await scene.recorder.expect("notifying F003 true -")
        let subscriber = try #require(try scene.local(CentralScene.notified).subscribers.first)
        for value in [[1], [2], [3]] as [[UInt8]] { try await subscriber.notify(value) }
        await scene.recorder.expect("value F003 01 -", "value F003 02 -", "value F003 03 -")
        #expect(notified.value == Data([3]))
    }

    @Test("Row 51: long values are read completely", arguments: [0, 1, 22, 23, 100, 511, 512])
    func longRead(length: Int) async throws {
        let scene = try await CentralScene(mtu: 23)
        let (peripheral, characteristics) = try await scene.discovered()
        let value = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        let server = try Self.serve(scene, value: value)
        defer { server.cancel() }
        peripheral.readValue(for: try #require(characteristics[CentralScene.dynamic]))
        await scene.recorder.expect("value F002 \(Data(value).hex) -")
    }

    @Test(
        "Rows 52, 83: a refusal by the peer is reported with its code, and the value stays",
        arguments: [
            0x02, 0x05, 0x0E, 0x80, 0xF1, 0xFF,
        ] as [UInt8])
    func refused(code: UInt8) async throws {
        let scene = try await CentralScene()
        let (peripheral, characteristics) = try await scene.discovered()
        let dynamic = try #require(characteristics[CentralScene.dynamic])
        let server = try Self.serve(scene, refusal: ATTErrorCode(rawValue: code))
        defer { server.cancel() }
        peripheral.readValue(for: dynamic)
        peripheral.writeValue(Data([1]), for: dynamic, type: .withResponse)
        await scene.recorder.expect("value F002 nil ATT \(code)", "written F002 ATT \(code)")
        #expect(dynamic.value == nil)
    }

    @Test("Row 53: each write is answered once, including long writes; one that is too long is rejected")
    func write() async throws {
        let scene = try await CentralScene(mtu: 23)
        let (peripheral, characteristics) = try await scene.discovered()
        let stored = try #require(characteristics[CentralScene.stored])
        for length in [0, 20, 21, 300, 512] {
            let value = Data((0..<length).map { UInt8(truncatingIfNeeded: $0) })
            peripheral.writeValue(value, for: stored, type: .withResponse)
            await scene.recorder.expect("written F001 -")
            #expect(await scene.service.characteristics[0].value == [UInt8](value))
        }
        peripheral.writeValue(Data(count: 513), for: stored, type: .withResponse)
        await scene.recorder.expect("written F001 ATT 13")
        // Row 56: none of that is the value that was read.
        #expect(stored.value == nil)
    }

    @Test("Row 54: a write without response has no callback, and one that is too long is dropped")
    func command() async throws {
        let log = Log()
        let scene = try await CentralScene(mtu: 23)
        let (peripheral, characteristics) = try await scene.discovered()
        let stored = try #require(characteristics[CentralScene.stored])
        peripheral.writeValue(Data(repeating: 1, count: 20), for: stored, type: .withoutResponse)
        peripheral.writeValue(Data(repeating: 2, count: 21), for: stored, type: .withoutResponse)
        peripheral.readValue(for: stored)
        await scene.recorder.expect("value F001 \(Data(repeating: 1, count: 20).hex) -")
        #expect(log.contains("API MISUSE: a value of 21 octets does not fit"))
    }

    @Test("Row 55: an application that waits while `canSendWriteWithoutResponse` is false loses no writes")
    func flowControl() async throws {
        let scene = try await CentralScene()
        let (peripheral, characteristics) = try await scene.discovered()
        let stored = try #require(characteristics[CentralScene.stored])
        let events = try scene.local(CentralScene.stored).events
        #expect(peripheral.canSendWriteWithoutResponse)
        let received = Task {
            var numbers: [Int] = []
            for try await case .written(let value, _, _) in events {
                numbers.append(Int(value[0]) << 8 | Int(value[1]))
                if numbers.count == 2000 { break }
            }
            return numbers
        }
        var next = 0
        while next < 2000 {
            while peripheral.canSendWriteWithoutResponse, next < 2000 {
                let value = Data([UInt8(next >> 8), UInt8(next & 0xFF)])
                peripheral.writeValue(value, for: stored, type: .withoutResponse)
                next += 1
            }
            if next < 2000 { await scene.recorder.expect("ready") }
        }
        #expect(try await received.value == Array(0..<2000))
    }

    @Test("Row 55: while writes wait behind an unanswered read, no ready callback comes")
    func flowControlBehindRead() async throws {
        let scene = try await CentralScene(time: .manual)
        let (peripheral, characteristics) = try await scene.discovered()
        let (stored, dynamic) = (
            try #require(characteristics[CentralScene.stored]), try #require(characteristics[CentralScene.dynamic])
        )
        let writes = try scene.local(CentralScene.stored).events, reads = try scene.local(CentralScene.dynamic).events
        var sent = 0
        while peripheral.canSendWriteWithoutResponse {
            peripheral.writeValue(Data([UInt8(sent)]), for: stored, type: .withoutResponse)
            sent += 1
        }
        peripheral.readValue(for: dynamic)
        for _ in 0..<6 { peripheral.writeValue(Data([1]), for: stored, type: .withoutResponse) }
        let request = try await scene.stage.passing { [sent] in
            var written = 0
            for try await case .written in writes {
                written += 1
                if written == sent { break }
            }
            for try await case .readRequested(let request) in reads { return Optional(request) }
            return nil
        }
        #expect(!peripheral.canSendWriteWithoutResponse)
        try await scene.stage.passing {
            try await request?.respond([5])
            await scene.recorder.expect("value F002 05 -", "ready")
        }
        #expect(peripheral.canSendWriteWithoutResponse)
    }

    @Test("Rows 57, 58: subscribing and unsubscribing are reported, and repeating either succeeds")
    func subscription() async throws {
        let scene = try await CentralScene()
        let (peripheral, characteristics) = try await scene.discovered()
        for uuid in [CentralScene.notified, CentralScene.indicated, CentralScene.both] {
            let characteristic = try #require(characteristics[uuid])
            let local = try scene.local(uuid)
            peripheral.setNotifyValue(true, for: characteristic)
            // Asked for before the first has been told.
            peripheral.setNotifyValue(true, for: characteristic)
            await scene.recorder.expect("notifying \(uuid) true -", "notifying \(uuid) true -")
            let subscriber = try #require(local.subscribers.first)
            // Of the two it is notifications.
            if uuid == CentralScene.indicated {
                try await subscriber.indicate([1])
            } else {
                try await subscriber.notify([1])
            }
            await scene.recorder.expect("value \(uuid) 01 -")
            peripheral.setNotifyValue(false, for: characteristic)
            peripheral.setNotifyValue(false, for: characteristic)
            await scene.recorder.expect("notifying \(uuid) false -", "notifying \(uuid) false -")
            #expect(local.subscribers.isEmpty)
        }
        peripheral.setNotifyValue(true, for: try #require(characteristics[CentralScene.stored]))
        await scene.recorder.expect("notifying F001 false ATT 6")
    }

    @Test("Row 59: writing the Client Characteristic Configuration ends the program")
    func configurationDescriptor() async throws {
        await #expect(processExitsWith: .failure) {
            let scene = try await CentralScene()
            let (peripheral, characteristics) = try await scene.discovered()
            let notified = try #require(characteristics["F003"])
            peripheral.discoverDescriptors(for: notified)
            await scene.recorder.expect("descriptors F003 -")
            peripheral.writeValue(Data([1, 0]), for: try #require(notified.descriptors?.first))
        }
    }

    @Test("Row 60: descriptors have typed values, and can be written")
    func descriptors() async throws {
        let scene = try await CentralScene()
        let (peripheral, characteristics) = try await scene.discovered()
        let (stored, notified) = (
            try #require(characteristics[CentralScene.stored]), try #require(characteristics[CentralScene.notified])
        )
        peripheral.discoverDescriptors(for: stored)
        peripheral.discoverDescriptors(for: notified)
        await scene.recorder.expect("descriptors F001 -", "descriptors F003 -")
        let descriptors = try #require(stored.descriptors) + #require(notified.descriptors)
        for descriptor in descriptors { peripheral.readValue(for: descriptor) }
        await scene.recorder.expect("descriptor 2901 -", "descriptor 2904 -", "descriptor F0D0 -", "descriptor 2902 -")
        #expect(descriptors[0].value as? String == "stored")
        #expect(descriptors[1].value as? Data == Data([4, 0, 0xAD, 0x27, 1, 0, 0]))
        #expect(descriptors[2].value as? Data == Data([9]))
        #expect(descriptors[3].value as? NSNumber == 0)
        peripheral.writeValue(Data([8, 8]), for: descriptors[2])
        peripheral.writeValue(Data([1]), for: descriptors[0])
        await scene.recorder.expect("descriptor written F0D0 -", "descriptor written 2901 ATT 3")
        peripheral.readValue(for: descriptors[2])
        await scene.recorder.expect("descriptor F0D0 -")
        #expect(descriptors[2].value as? Data == Data([8, 8]))
    }

    @Test("Row 61: the RSSI can be read only while the peripheral is connected")
    func rssi() async throws {
        let log = Log()
        let scene = try await CentralScene()
        let peripheral = try await scene.found()
        peripheral.readRSSI()
        #expect(log.contains("API MISUSE: \(peripheral) can only read RSSI while it is connected"))
        scene.manager.connect(peripheral)
        await scene.recorder.skip(to: "connected")
        peripheral.readRSSI()
        await scene.recorder.expect("rssi -")
    }

    @Test("20,000 notifications arrive in order, and none is lost")
    func many() async throws {
        let scene = try await CentralScene()
        let (peripheral, characteristics) = try await scene.discovered()
        final class Counter: NSObject, CBPeripheralDelegate {
            var next = 0
            let done = Recorder()
            func peripheral(
                _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
            ) {
                let value = characteristic.value ?? Data()
                guard value.count == 3 else { return done.add("no value") }
                let number = Int(value[0]) << 16 | Int(value[1]) << 8 | Int(value[2])
                if number != next { done.add("\(number) in place of \(next)") }
                next += 1
                if next == 20000 { done.add("all") }
            }
        }
        let notified = try #require(characteristics[CentralScene.notified])
        peripheral.setNotifyValue(true, for: notified)
        await scene.recorder.expect("notifying F003 true -")
        let counter = Counter()
        peripheral.delegate = counter
        let subscriber = try #require(try scene.local(CentralScene.notified).subscribers.first)
        for number in 0..<20000 {
            try await subscriber.notify([UInt8(number >> 16), UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)])
        }
        await counter.done.expect("all")
    }
}
