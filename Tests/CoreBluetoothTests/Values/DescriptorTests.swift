import CoreBluetooth
import Testing

@testable import class CoreBluetooth.CBDescriptor

@Suite("F: values of descriptors")
struct DescriptorTests {
    /// A UUID of 16 bits, in each of its forms.
    private func forms(_ text: String) -> [CBUUID] {
        ["", "0000"].map { CBUUID(string: $0 + text) } + [CBUUID(string: "0000\(text)-0000-1000-8000-00805F9B34FB")]
    }

    private func value(of uuid: CBUUID, read octets: [UInt8]) -> Any? {
        let descriptor = CBDescriptor(uuid, nil)
        #expect(descriptor.value == nil)
        descriptor.take(Data(octets))
        return descriptor.value
    }

    @Test("Row 60: bit fields are NSNumbers, whatever form the UUID has", arguments: ["2900", "2902", "2903"])
    func bits(text: String) {
        let cases: [([UInt8], UInt16)] = [
            ([0x01, 0x00], 1), ([0x02, 0x80], 0x8002), ([0x02], 2), ([], 0), ([0x01, 0x00, 0xFF], 1),
        ]
        for uuid in forms(text) {
            for (octets, number) in cases {
                #expect((value(of: uuid, read: octets) as? NSNumber)?.uint16Value == number)
            }
        }
    }

    @Test("Row 60: a description is a String, even if its octets are not valid UTF-8")
    func text() {
        for uuid in forms("2901") {
            #expect(value(of: uuid, read: Array("Größe".utf8)) as? String == "Größe")
            #expect(value(of: uuid, read: []) as? String == "")
            #expect(value(of: uuid, read: [0x41, 0xFF]) as? String == "A\u{FFFD}")
        }
    }

    @Test(
        "Row 60: the value of other descriptors is Data", arguments: ["2904", "2905", "2906", "2908", "2910", "FFF0"])
    func octets(text: String) {
        for uuid in forms(text) { #expect(value(of: uuid, read: [1, 2]) as? Data == Data([1, 2])) }
    }

    @Test("Row 66: an application can create the descriptors that it may publish")
    func made() {
        for uuid in forms("2901") { #expect(CBMutableDescriptor(type: uuid, value: "a").value as? String == "a") }
        for uuid in forms("2904") {
            #expect(CBMutableDescriptor(type: uuid, value: Data([4])).value as? Data == Data([4]))
        }
        #expect(CBMutableDescriptor(type: CBUUID(string: "2908"), value: Data([1])).value as? Data == Data([1]))
    }

    @Test("A description that is not a String, or a format that is not Data, ends the program")
    func traps() async {
        await #expect(processExitsWith: .failure) {
            _ = CBMutableDescriptor(type: CBUUID(string: "2901"), value: Data([0x41]))
        }
        await #expect(processExitsWith: .failure) {
            _ = CBMutableDescriptor(type: CBUUID(string: "00002901-0000-1000-8000-00805F9B34FB"), value: 5)
        }
        await #expect(processExitsWith: .failure) { _ = CBMutableDescriptor(type: CBUUID(string: "2901"), value: nil) }
        await #expect(processExitsWith: .failure) { _ = CBMutableDescriptor(type: CBUUID(string: "2904"), value: "a") }
    }
}
