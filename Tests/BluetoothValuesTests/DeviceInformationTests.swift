import BluetoothBase
import BluetoothValues
import TestSupport
import Testing

@Suite("Battery Level and Device Information")
struct DeviceInformationTests {
    @Test(
        "battery levels are encoded and decoded",
        arguments: [("00", 0), ("2A", 42), ("64", 100)] as [(String, UInt8)])
    func battery(_ text: String, percentage: UInt8) throws {
        try Example(text, BatteryLevel(percentage: percentage)).check()
    }

    @Test("a battery level above 100 is rejected when decoded, and clamped when encoded")
    func overfullBattery() {
        #expect(failure(of: BatteryLevel.self, [101]) == DecodingFailure(.invalidValue, at: 0))
        #expect(BatteryLevel(percentage: 101).encoded == [100])
    }

    @Test(
        "strings are encoded and decoded",
        arguments: [("", ""), ("4E 52 46", "NRF"), ("C3 A9 F0 9F 9A B2", "é🚲"), ("41 00 42", "A\0B")])
    func string(_ hexadecimal: String, text: String) throws {
        try Example(hexadecimal, ManufacturerNameString(text)).check()
        try Example(hexadecimal, ModelNumberString(text)).check()
        try Example(hexadecimal, SerialNumberString(text)).check()
        try Example(hexadecimal, HardwareRevisionString(text)).check()
        try Example(hexadecimal, FirmwareRevisionString(text)).check()
        try Example(hexadecimal, SoftwareRevisionString(text)).check()
    }

    @Test(
        "malformed strings are repaired",
        arguments: [("41 00", "A"), ("00 00", ""), ("41 FF 42", "A\u{FFFD}B"), ("41 C3", "A\u{FFFD}")])
    func repairedString(_ hexadecimal: String, text: String) throws {
        try Example(hexadecimal, FirmwareRevisionString(text)).checkDecoding()
    }

    @Test("identifiers are encoded and decoded")
    func identifiers() throws {
        let system = SystemID(manufacturerIdentifier: 0x05_0403_0201, organizationallyUniqueIdentifier: 0x123456)
        try Example("01 02 03 04 05 56 34 12", system).check()
        let product = PnPID(vendorIDSource: .bluetoothSIG, vendorID: 15, productID: 0x1234, productVersion: 0x0213)
        try Example("01 0F 00 34 12 13 02", product).check()
        let device = PnPID(
            vendorIDSource: .usbImplementersForum, vendorID: 0x05AC, productID: 1, productVersion: 0)
        try Example("02 AC 05 01 00 00 00", device).check()
    }

    @Test("excess bits of a system identifier are dropped")
    func wideIdentifier() {
        let system = SystemID(manufacturerIdentifier: .max, organizationallyUniqueIdentifier: .max)
        #expect(system.encoded == bytes("FF FF FF FF FF FF FF FF"))
        #expect(system.manufacturerIdentifier == 0xFF_FFFF_FFFF)
        #expect(system.organizationallyUniqueIdentifier == 0xFF_FFFF)
    }
}
