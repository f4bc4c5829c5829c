import BluetoothHCI
import BluetoothPlatform
import CBluetoothHCI
import Testing

@testable import HCITransport

/// Serial devices that cannot be opened. `PseudoTerminalTests` covers open ones.
struct SerialPortTests {
    @Test(
        "each kernel error maps to its own fault",
        arguments: [
            (EACCES, .notPermitted(path: "/dev/full", group: nil)),
            (EPERM, .notPermitted(path: "/dev/full", group: nil)),
            (EBUSY, .inUse(path: "/dev/full")), (EWOULDBLOCK, .inUse(path: "/dev/full")),
            (ENOTTY, .notASerialDevice), (EISDIR, .notASerialDevice), (EMFILE, nil),
        ] as [(Int32, DeviceFault?)])
    func refusals(code: Int32, fault: DeviceFault?) {
        // Everybody may use /dev/full: joining a group would not help.
        #expect(DeviceFault(openingSerialDevice: "/dev/full", Errno(code)) == fault)
    }

    @Test("the error for a missing device lists the ones present", arguments: [ENOENT, ENODEV, ENXIO, EIO])
    func notFound(code: Int32) {
        guard
            case .notFound("/dev/ttyUSB9", let present) = DeviceFault(
                openingSerialDevice: "/dev/ttyUSB9", Errno(code))
        else {
            Issue.record("not reported as missing")
            return
        }
        #expect(present.allSatisfy(exists))
    }

    @Test("anything but a serial device is rejected", arguments: ["/dev/null", "/dev", "/proc/self/exe/file"])
    func notASerialDevice(path: String) {
        let name = TransportName.serial(SerialLine(device: path))
        #expect(throws: TransportError(.device(.notASerialDevice), transport: name.description)) { try name.open() }
    }

    @Test("a missing path is reported as not found")
    func missing() {
        let directory = Directory(), path = directory.file("tty")
        let refusal = reason { () throws(TransportError) in
            _ = try TransportName.serial(SerialLine(device: path)).open()
        }
        guard case .device(.notFound(path, _)) = refusal else {
            Issue.record("unexpected answer: \(String(describing: refusal))")
            return
        }
    }

    @Test(
        "a baud rate may deviate as far as receivers tolerate",
        arguments: [
            (115_200, 115_200, true), (115_200, 115_384, true), (1_000_000, 970_000, true),
            (1_000_000, 1_030_000, true),
            (1_000_000, 969_999, false), (1_000_000, 1_030_001, false), (3_000_000, 38_400, false),
            (1, 0, false), (.max, .max, true), (.max, 0, false),
        ] as [(UInt32, UInt32, Bool)])
    func tolerance(wanted: UInt32, rate: UInt32, isCloseEnough: Bool) {
        #expect(SerialPort.isCloseEnough(rate, to: wanted) == isCloseEnough)
    }

    @Test(
        "the description of a fault is one line that says what to do",
        arguments: [
            (
                .notFound(path: "/dev/ttyUSB0", present: []),
                "there is no device /dev/ttyUSB0; no serial device is plugged in"
            ),
            (
                .notFound(path: "/dev/ttyUSB0", present: ["/dev/ttyACM0", "/dev/ttyACM1"]),
                "there is no device /dev/ttyUSB0; present: /dev/ttyACM0, /dev/ttyACM1"
            ),
            (
                .notPermitted(path: "/dev/ttyUSB0", group: "dialout"),
                "not permitted to open /dev/ttyUSB0; join its group, and log in again: sudo usermod -aG dialout $USER"
            ),
            (
                .notPermitted(path: "/dev/vhci", group: nil),
                "not permitted to open /dev/vhci; allow it until the next reboot: sudo chown $USER /dev/vhci"
            ),
            (
                .inUse(path: "/dev/ttyUSB0"),
                "another program has /dev/ttyUSB0 open; see which, and stop it: sudo fuser -v /dev/ttyUSB0"
            ),
            (
                .baudRateNotSupported(3_000_000, actual: 115_200),
                "the device does not support 3000000 baud, and would use 115200; choose a supported rate"
            ),
        ] as [(DeviceFault, String)])
    func descriptions(fault: DeviceFault, text: String) {
        let description = TransportError(.device(fault), transport: "serial:/dev/ttyUSB0,1000000").description
        #expect(description == "serial:/dev/ttyUSB0,1000000: " + text)
    }

    @Test(
        "errors on an open line refer to the device",
        arguments: [
            (.adapterRemoved, "the device is gone; plug it in again"),
            (
                .malformedStream(.unexpectedIndicator(0)),
                "the received data is not HCI: unexpectedIndicator(0); check that the other side speaks H4, "
                    + "at this baud rate"
            ),
        ] as [(TransportError.Reason, String)])
    func open(reason: TransportError.Reason, text: String) {
        let description = TransportError(reason, transport: "serial:/dev/ttyUSB0,1000000").description
        #expect(description == "serial:/dev/ttyUSB0,1000000: " + text)
    }
}
