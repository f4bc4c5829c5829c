import BluetoothBase
import Testing

@testable import BluetoothNumbers

@Suite("Assigned numbers")
struct AssignedNumbersTests {
    @Test("each list resolves its numbers to names")
    func names() {
        #expect(AssignedNumbers.name(ofService: "180D") == "Heart Rate")
        #expect(AssignedNumbers.name(ofCharacteristic: "2A37") == "Heart Rate Measurement")
        #expect(AssignedNumbers.name(ofDescriptor: "2902") == "Client Characteristic Configuration")
        #expect(AssignedNumbers.name(ofDeclaration: "2800") == "Primary Service")
        #expect(AssignedNumbers.name(ofUnit: 0x2705) == "thermodynamic temperature (kelvin)")
        #expect(AssignedNumbers.name(ofMember: "FEAA") == "Google LLC")
        #expect(AssignedNumbers.name(ofMember: "FCF1") == "Google LLC")
        #expect(AssignedNumbers.name(ofADType: 0x01) == "Flags")
        #expect(AssignedNumbers.name(ofADType: 0xFF) == "Manufacturer Specific Data")
    }

    @Test(
        "companies: the first, the last, and some in between",
        arguments: [
            (0x0000, "Ericsson AB"), (0x0001, "Nokia Mobile Phones"), (0x004C, "Apple, Inc."),
            (0x0059, "Nordic Semiconductor ASA"), (0x0499, "Ruuvi Innovations Ltd."), (0x10AE, "Raycon Inc."),
            (0x10AF, nil), (0xFFFF, nil),
        ] as [(UInt16, String?)])
    func companies(_ identifier: UInt16, _ name: String?) {
        #expect(AssignedNumbers.name(ofCompany: identifier) == name)
    }

    @Test(
        "an appearance without its own name has its category's name",
        arguments: [
            (0x0000, "Unknown"), (0x0340, "Heart Rate Sensor"), (0x0341, "Heart Rate Belt"),
            (0x037F, "Heart Rate Sensor"), (0xFFFF, nil),
        ] as [(UInt16, String?)])
    func appearances(_ value: UInt16, _ name: String?) {
        #expect(AssignedNumbers.name(ofAppearance: value) == name)
    }

    @Test(
        "a UUID that is not an assigned service has no service name",
        arguments: ["0001180D", "6E400001-B5A3-F393-E0A9-E50E24DCCA9E", "2A37"])
    func unknown(_ uuid: BluetoothUUID) {
        #expect(AssignedNumbers.name(ofService: uuid) == nil)
    }

    /// The search needs lines of this form, in ascending order.
    @Test("every line of every list is found", arguments: lists)
    func wellFormed(_ list: List) throws {
        let lines = list.list.text.description.split(separator: "\n", omittingEmptySubsequences: false)
        var last = -1
        for line in lines {
            let number = try #require(UInt16(line.prefix(4), radix: 16))
            #expect(Int(number) > last && line.dropFirst(4).first == " " && line.count > 5, "\(line)")
            #expect(line.prefix(4).allSatisfy { $0.isNumber || $0.isUppercase }, "\(line)")
            #expect(list.list.name(of: number) == String(line.dropFirst(5)))
            last = Int(number)
        }
        #expect(lines.count == list.count)
    }

    @Test("a number between, before or after those of a list is not found")
    func absent() {
        let list = NameList("0010 One\n0100 Two")
        for number: UInt16 in [0, 0x000F, 0x0011, 0x00FF, 0x1234, 0xFFFF] {
            #expect(list.name(of: number) == nil)
        }
        #expect(list.name(of: 0x10) == "One")
        #expect(list.name(of: 0x100) == "Two")
        #expect(NameList("").name(of: 0) == nil)
    }

    struct List: Sendable, CustomTestStringConvertible {
        var name: String
        var list: NameList
        /// As many lines as the SIG's list has entries.
        var count: Int

        var testDescription: String { name }
    }

    static let lists = [
        List(name: "companies", list: AssignedNumbers.companies, count: 4008),
        List(name: "services", list: AssignedNumbers.services, count: 75),
        List(name: "characteristics", list: AssignedNumbers.characteristics, count: 502),
        List(name: "descriptors", list: AssignedNumbers.descriptors, count: 24),
        List(name: "declarations", list: AssignedNumbers.declarations, count: 4),
        List(name: "units", list: AssignedNumbers.units, count: 127),
        List(name: "members", list: AssignedNumbers.members, count: 716),
        List(name: "appearances", list: AssignedNumbers.appearances, count: 342),
        List(name: "adTypes", list: AssignedNumbers.adTypes, count: 50),
    ]
}
