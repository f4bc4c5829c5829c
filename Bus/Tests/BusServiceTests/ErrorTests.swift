import BluetoothATT
import BluetoothGATT
import BluetoothHost
import BluetoothSMP
import DBus
import Testing

@testable import BusService

@Suite struct ErrorTests {
    @Test(arguments: [
        (0x02, "NotPermitted", "Read not permitted"), (0x03, "NotPermitted", "Write not permitted"),
        (0x05, "NotPermitted", "Not paired"), (0x06, "NotSupported", "Operation is not supported"),
        (0x07, "InvalidArguments", "Invalid offset"), (0x08, "NotAuthorized", "Operation Not Authorized"),
        (0x0C, "NotPermitted", "Not paired"), (0x0D, "InvalidArguments", "Invalid Length"),
        (0x0E, "Failed", "Operation failed with ATT error: 0x0e"), (0x0F, "NotPermitted", "Not paired"),
        (0x80, "Failed", "Operation failed with ATT error: 0x80"),
        (0xFD, "Failed", "Operation failed with ATT error: 0xfd"),
    ])
    func `an ATT error has BlueZ's name and text`(_ code: Int, _ name: String, _ text: String) {
        let error = ATTError(requestOpcode: 0x0A, handle: 3, code: ATTErrorCode(rawValue: UInt8(code)))
        #expect(BusError.attribute(.client(.att(error))) == .bluez(name, text))
    }

    @Test(arguments: [
        ("Failed", "0x80", 0x80), ("Failed", "0x9f", 0x9F), ("Failed", "159", 0x9F), ("Failed", "0x7f", 0x0E),
        ("Failed", "no number", 0x80), ("Failed", "", 0x80), ("NotSupported", "", 0x06), ("NotAuthorized", "", 0x08),
        ("InvalidValueLength", "", 0x0D), ("InvalidOffset", "", 0x07), ("InProgress", "", 0xFE),
        ("ImproperlyConfigured", "", 0xFD), ("NotPermitted", "", 0x02), ("Unknown", "", 0x0E),
    ])
    func `an application's error becomes an ATT error`(_ name: String, _ text: String, _ code: Int) {
        #expect(BusError.bluez(name, text).attributeCode(.readNotPermitted).rawValue == UInt8(code))
    }

    @Test func `an application that does not answer becomes an unlikely error`() {
        #expect(BusError.noReply.attributeCode(.readNotPermitted) == .unlikelyError)
    }

    @Test func `a pairing that fails has BlueZ's name`() {
        #expect(BusError.pairing(.pairing(.timedOut)) == .authenticationTimeout)
        #expect(BusError.pairing(.disconnected(.supervisionTimeout)) == .authenticationCanceled)
        #expect(BusError.pairing(.pairing(.peer(.confirmValueFailed))) == .authenticationFailed)
    }
}
