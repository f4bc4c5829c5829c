import BluetoothATT
import BluetoothBase
import BluetoothHost
import DBus
import Testing

@testable import BusService

@Suite struct TextFormTests {
    @Test(arguments: [
        ("180F", "0000180f-0000-1000-8000-00805f9b34fb"), ("DEADBEEF", "deadbeef-0000-1000-8000-00805f9b34fb"),
        ("51FF12BB-3ED8-46E5-B4F9-D64E2FEC021B", "51ff12bb-3ed8-46e5-b4f9-d64e2fec021b"),
        ("FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
    ])
    func `a UUID has 36 characters in lower case`(_ text: String, _ expected: String) throws {
        #expect(TextForm.uuid(try #require(BluetoothUUID(text))) == expected)
    }

    @Test(arguments: [
        ([1, 0x4C, 0x00, 0x34, 0x12, 0x0A, 0x01], "bluetooth:v004Cp1234d010A"),
        ([2, 0x6D, 0x04, 0x05, 0xB0, 0x11, 0x00, 0xFF], "usb:v046DpB005d0011"), ([3, 0, 0, 0, 0, 0, 0], nil),
        ([1, 0x4C, 0x00, 0x34, 0x12, 0x0A], nil), ([], nil),
    ])
    func `a PnP ID has the form of the kernel's module aliases`(_ octets: [UInt8], _ expected: String?) {
        #expect(Modalias.text(octets) == expected)
    }

    @Test func `addresses and handles have the form of BlueZ's paths`() throws {
        let address = try #require(DeviceAddress("C0:0A:22:33:44:5F"))
        #expect(TextForm.address(address) == "C0:0A:22:33:44:5F")
        #expect(TextForm.address(address, separator: "_") == "C0_0A_22_33_44_5F")
        #expect(TextForm.addressType(address) == "random")
        #expect(TextForm.handle(0x000A) == "000a")
        #expect(TextForm.handle(0xFFFF) == "ffff")
    }
}
