import BluetoothLE
import HCITransport
import Testing

@testable import ble

/// `ble adapters`.
struct AdapterLinesTests {
    private static let adapters = [
        AdapterInformation(
            index: 0, address: DeviceAddress(0x00AA_0100_0042, kind: .public), bus: .usb, state: .up,
            supportsLowEnergy: true),
        AdapterInformation(
            index: 1, bus: .virtual,
            state: .held(by: AdapterHolder(processIdentifier: 1234, program: "a\"b\\c"))),
        AdapterInformation(index: 12, bus: nil, state: .down, block: .software, supportsLowEnergy: false),
        AdapterInformation(index: 2, bus: .rs232, state: .held(by: nil), block: .hardware),
    ]

    @Test("Adapters are shown in columns, with hints for the user")
    func table() {
        #expect(
            AdapterLines.table(Self.adapters) == [
                "hci0   00:AA:01:00:00:42  USB      up",
                "hci1   -                  virtual  in use by a\"b\\c (process 1234)",
                "hci12  -                  ?        "
                    + "down, blocked (to unblock: sudo rfkill unblock bluetooth), no Low Energy",
                "hci2   -                  RS-232   "
                    + "in use by another program, blocked by a hardware switch or key",
            ])
        #expect(AdapterLines.table([]) == [])
    }

    @Test("The JSON output has the same information")
    func objects() {
        #expect(
            Self.adapters.map(AdapterLines.object) == [
                #"{"name":"hci0","index":0,"address":"00:AA:01:00:00:42","bus":"usb","state":"up","lowEnergy":true}"#,
                #"{"name":"hci1","index":1,"bus":"virtual","state":"held","process":1234,"program":"a\"b\\c"}"#,
                #"{"name":"hci12","index":12,"state":"down","blockedBy":"software","withoutLowEnergy":true}"#,
                #"{"name":"hci2","index":2,"bus":"rs232","state":"held","blockedBy":"hardware"}"#,
            ])
    }
}
