import BluetoothHCI
import BluetoothBase
import CoreBluetooth
import Foundation
import Testing

@testable import CoreBluetoothTesting

@Suite(.timeLimit(.minutes(30)))
struct CaptureTests {
    private let sensor = VirtualPeripheral(
        name: "Sensor", services: [VirtualService("180D", characteristics: [.init("F001", .read, value: Data([0xAB]))])]
    )

    private func exchange(_ air: TestRadio) async throws {
        try await air.add(sensor)
        let app = air.app { Phone() }
        try await air.wait { app.has("descriptors of F001 -") }
        app.read("F001")
        await air.settle()
    }

    @Test func `a capture has the packets of every device, with virtual times`() async throws {
        let air = TestRadio(time: .manual)
        try await exchange(air)
        var reader = BTSnoopReader(), packet = ByteWriter()
        reader.append([UInt8](air.capture).span)
        var adapters: Set<UInt16> = [], last: Int64 = 0, hasValue = false
        while let record = try reader.next(into: &packet) {
            adapters.insert(try #require(record.adapter))
            #expect(record.microsecondsSince1970 >= 946_684_800 * 1_000_000)
            last = max(last, record.microsecondsSince1970)
            // A Read Response with the value.
            hasValue = hasValue || packet.bytes.suffix(2) == [0x0B, 0xAB]
        }
        #expect(adapters == [0, 1] && hasValue)
        #expect(last < 946_684_800 * 1_000_000 + 60 * 1_000_000)
    }

    @Test func `a test that fails has the capture of each of its radios attached, and one that passes has none`()
        async throws
    {
        let captures = RadioCaptures()
        try await RadioCaptures.$current.withValue(captures) {
            try await exchange(TestRadio(time: .manual))
            _ = TestRadio(time: .manual)
        }
        #expect(captures.attachments.isEmpty)
        captures.noteFailure()
        #expect(captures.attachments.map(\.name) == ["radio-1.btsnoop", "radio-2.btsnoop"])
        #expect(captures.attachments.map { $0.data.count > 1000 } == [true, false])
    }

    @Test func `a test that throws has a capture attached`() async throws {
        struct Failure: Error {}
        let test = try #require(Test.current), testCase = Test.Case.current
        await #expect(throws: Failure.self) {
            try await RadioCaptureTrait().provideScope(for: test, testCase: testCase) {
                _ = TestRadio(time: .manual)
                #expect(RadioCaptures.current?.attachments.isEmpty == true)
                throw Failure()
            }
        }
    }
}
