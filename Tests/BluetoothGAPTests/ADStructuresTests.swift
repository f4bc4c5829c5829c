import BluetoothBase
import BluetoothGAP
import TestSupport
import Testing

/// The structures of advertising data, one line of text each.
private func structures(_ data: [UInt8]) -> [String] {
    var structures = ADStructures(data.span), lines: [String] = []
    while let structure = structures.next() {
        lines.append("\(hexadecimal(structure.type.rawValue)): \(structure.data.hexadecimal())")
    }
    return lines
}

struct ADStructuresTests {
    @Test(
        arguments: [
            ("02 01 06 03 03 0D 18 05 09 50 6F 6C 61", ["01: 06", "03: 0D 18", "09: 50 6F 6C 61"]),
            ("", []),
            ("02 99 01", ["99: 01"]),
        ])
    func `consecutive structures are read in order`(_ data: String, _ expected: [String]) {
        #expect(structures(bytes(data)) == expected)
    }

    @Test(
        "G1: a malformed structure ends the data; the ones before it are kept",
        arguments: [
            ("00", []),
            ("02 01 06 00 00 00 03 03 0D 18", ["01: 06"]),
            ("05 09 41", []),
            ("02 01 06 05 09 41", ["01: 06"]),
            ("FF 01 06", []),
            ("01 09", ["09: "]),
            ("01 09 02 01 06", ["09: ", "01: 06"]),
            ("02 01 06 05", ["01: 06"]),
            ("02", []),
            ("04 02 0D 18 0F", ["02: 0D 18 0F"]),
        ])
    func malformed(_ data: String, _ expected: [String]) {
        #expect(structures(bytes(data)) == expected)
    }

    @Test func `a structure of the maximum length is read only if its data is complete`() {
        #expect(structures([0xFF, 0xFF] + [UInt8](repeating: 7, count: 254)).count == 1)
        #expect(structures([0xFF, 0xFF] + [UInt8](repeating: 7, count: 253)) == [])
    }

    @Test func `after a structure of length 0, the iterator keeps returning nil`() {
        let data = bytes("02 01 06 00 02 01 05")
        var structures = ADStructures(data.span)
        var count = 0
        for _ in 0..<5 where structures.next() != nil { count += 1 }
        #expect(count == 1)
    }

    @Test func `types have the names of Assigned Numbers`() {
        #expect(ADType.flags.description == "Flags")
        #expect(ADType.manufacturerSpecificData.description == "Manufacturer Specific Data")
        #expect(ADType(rawValue: 0x99).description == "AD type 0x99")
        let names = (UInt8.min...UInt8.max).compactMap { ADType(rawValue: $0).name }
        #expect(Set(names).count == names.count)
    }
}
