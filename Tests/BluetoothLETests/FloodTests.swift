import BluetoothAdapter
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("Values as fast as a socket delivers them", .timeLimit(.minutes(30)))
struct FloodTests {
    /// A central at a socket that is subscribed to a peripheral, and the values that are going to be notified.
    struct Setting {
        let controller: SocketController
        let central, peripheral: Adapter
        let connection: Connection
        let values: EventSequence<[UInt8]>
        let expected: [[UInt8]]
        let packets: [[UInt8]]

        init(count: Int, hasHostFlowControl: Bool) async throws {
            let radio = VirtualRadio()
            controller = try SocketController(
                radio.addController { $0.hasHostFlowControl = hasHostFlowControl })
            central = try await Adapter.open(controller.name)
            peripheral = try await Adapter.open(radio.addController())
            let service = try await peripheral.publish(Scene.definition)
            try await peripheral.advertise(AdvertisementData(name: "Flood"))
            connection = try await central.connect(to: try #require(peripheral.information?.address))
            let found = try #require(try await connection.discoverServices().first { $0.uuid == Scene.service })
            let characteristic = try #require(
                try await connection.discoverCharacteristics(Scene.notified, of: found).first)
            values = try await connection.notifications(of: characteristic)
            withExtendedLifetime(service) {}
            expected = (0..<count).map { number in
                [UInt8(number >> 8), UInt8(number & 0xFF)] + [UInt8](repeating: 7, count: 18)
            }
            let handle = UInt8(characteristic.valueHandle.rawValue)
            // ACL data of the first connection: 27 octets, which are an L2CAP frame of 23 for the attribute protocol.
            packets = expected.map { [0x02, 0x40, 0x20, 27, 0, 23, 0, 4, 0, 0x1B, handle, 0] + $0 }
        }
    }

    @Test("With host flow control, a consumer that starts late receives all 20,000 values in order")
    func whole() async throws {
        let setting = try await Setting(count: 20_000, hasHostFlowControl: true)
        let (values, expected) = (setting.values, setting.expected)
        setting.controller.flood(setting.packets, room: Int(AdapterOptions().host.receiveBufferCount))
        // By then the link is held.
        await until { values.subscription.queue.count * ReceiveWindow.leastCount >= ReceiveWindow.limit / 2 }
        #expect(try await values.prefix(count: expected.count) == expected)
        setting.controller.stop()
    }

    @Test("Without host flow control, a stalled consumer keeps 1 MiB of 20,000 values, and its link ends")
    func stalled() async throws {
        let setting = try await Setting(count: 20_000, hasHostFlowControl: false)
        let (values, expected) = (setting.values, setting.expected)
        setting.controller.flood(setting.packets, room: nil)
        #expect(try await setting.connection.waitForDisconnection() == .consumerTooSlow)
        var iterator = values.makeAsyncIterator()
        var kept = 0
        await #expect(throws: BluetoothError.disconnected(.consumerTooSlow)) {
            while let value = try await iterator.next() {
                guard value == expected[kept] else { break }
                kept += 1
            }
        }
        #expect(kept == ReceiveWindow.limit / ReceiveWindow.leastCount + 1)
        #expect(setting.central.information != nil, "the adapter goes on")
        setting.controller.stop()
    }
}
