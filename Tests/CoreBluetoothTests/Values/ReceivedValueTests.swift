import Foundation
import Testing

@testable import CoreBluetooth

@Suite("Values that a characteristic receives")
struct ReceivedValueTests {
    private let characteristic = CBCharacteristic(CBUUID(string: "2A37"), .notify, nil)

    private func receive(_ octets: [UInt8]) { characteristic.setValue(to: octets.span) }

    @Test(
        "A value that the application holds does not change when the next one arrives",
        arguments: [0, 1, 14, 15, 20, 512])
    func held(length: Int) {
        var held: [Data?] = []
        for number in 1...3 as ClosedRange<UInt8> {
            receive([UInt8](repeating: number, count: length))
            held.append(characteristic.value)
        }
        // As a part of another value, and as an object.
        let part = characteristic.value?.dropFirst(length / 2), object = characteristic.value.map { $0 as NSData }
        receive([UInt8](repeating: 4, count: length))
        #expect(held == (1...3).map { Data(repeating: $0, count: length) })
        #expect(part == Data(repeating: 3, count: length - length / 2))
        #expect(object?.isEqual(to: Data(repeating: 3, count: length)) == true)
        #expect(characteristic.value == Data(repeating: 4, count: length))
    }

    @Test("Values of different lengths replace each other")
    func lengths() {
        for length in [20, 21, 0, 15, 14, 15, 512, 20] {
            receive([UInt8](repeating: UInt8(length & 0xFF), count: length))
            #expect(characteristic.value == Data(repeating: UInt8(length & 0xFF), count: length))
            #expect(characteristic.value?.startIndex == 0)
        }
    }

    @Test("Values of one length keep their memory while the application holds none of them")
    func memory() {
        receive([UInt8](repeating: 1, count: 20))
        let before = address
        receive([UInt8](repeating: 2, count: 20))
        #expect(address == before)
        withExtendedLifetime(characteristic.value) {
            receive([UInt8](repeating: 3, count: 20))
            #expect(address != before)
        }
    }

    private var address: UInt? {
        characteristic.value?.withUnsafeBytes { memory in memory.baseAddress.map { UInt(bitPattern: $0) } }
    }
}
