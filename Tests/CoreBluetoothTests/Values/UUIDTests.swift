import CoreBluetooth
import Testing

@Suite("I: UUIDs")
struct UUIDTests {
    @Test(
        "Row 86: short and long forms of one UUID are equal, and keep their widths",
        arguments: [
            ("180D", 2, "180D"), ("0000180D", 4, "0000180D"),
            ("0x180D", 2, "180D"), ("0x0000180d", 4, "0000180D"),
            ("0x0000180D-0000-1000-8000-00805F9B34FB", 16, "0000180D-0000-1000-8000-00805F9B34FB"),
            ("0000180D-0000-1000-8000-00805F9B34FB", 16, "0000180D-0000-1000-8000-00805F9B34FB"),
            ("0000180d-0000-1000-8000-00805f9b34fb", 16, "0000180D-0000-1000-8000-00805F9B34FB"),
        ])
    func widths(text: String, width: Int, shown: String) {
        let uuid = CBUUID(string: text)
        let short = CBUUID(string: "180D")
        #expect(uuid == short && uuid.isEqual(short) && uuid.hash == short.hash)
        #expect(Set([uuid, short]).count == 1 && [uuid].contains(short))
        #expect([short: 1][uuid] == 1)
        #expect(uuid.data.count == width && uuid.uuidString == shown)
        #expect(CBUUID(data: uuid.data) == uuid)
        #expect(uuid.description == "Heart Rate")
        #expect(uuid.copy() as? CBUUID == uuid)
    }

    @Test("Row 86: the octets are in the order of the text")
    func octets() {
        #expect(CBUUID(string: "180D").data == Data([0x18, 0x0D]))
        let text = "E07F0AE8-00BB-47F5-94F4-4A7174EA3032"
        let uuid = CBUUID(nsuuid: UUID(uuidString: text)!)
        #expect(uuid.uuidString == text && uuid == CBUUID(string: text) && uuid.description == text)
        #expect(uuid.data.prefix(4) == Data([0xE0, 0x7F, 0x0A, 0xE8]))
        #expect(CBUUID() == CBUUID(data: Data(count: 16)))
        #expect(CBUUID(string: "180D") != CBUUID(string: "180F"))
        #expect(!CBUUID(string: "180D").isEqual("180D"))
    }

    @Test("Row 86: a malformed UUID ends the program")
    func malformed() async {
        await #expect(processExitsWith: .failure) { _ = CBUUID(string: "18") }
        await #expect(processExitsWith: .failure) { _ = CBUUID(string: "0x0x180D") }
        await #expect(processExitsWith: .failure) { _ = CBUUID(string: "xyzw") }
        await #expect(processExitsWith: .failure) { _ = CBUUID(string: "E07F0AE800BB47F594F44A7174EA3032") }
        await #expect(processExitsWith: .failure) { _ = CBUUID(data: Data(count: 3)) }
    }
}
