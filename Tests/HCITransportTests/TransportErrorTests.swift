import BluetoothPlatform
import CBluetoothHCI
import Testing

@testable import HCITransport

struct TransportErrorTests {
    @Test(
        "the description of an error is one line that says what to do",
        arguments: [
            (.connectionRefused, "connection refused; start the other side first"),
            (.hostNotFound(detail: "x"), "host not found (x); check the spelling of its name"),
            (.addressInUse, "the address is in use; stop the program that listens there, or choose another"),
            (.pathTaken, "a file that is not a socket has this path; remove it, or choose another path"),
            (
                .bluetoothUnavailable,
                "this kernel has no Bluetooth sockets; try: sudo modprobe bluetooth (in a container, also run it with "
                    + "the host's network), or use a transport that needs no adapter"
            ),
            (
                .noSuchAdapter(present: []),
                "there is no Bluetooth adapter; plug one in, or use a transport that needs none"
            ),
            (
                .noSuchAdapter(present: [
                    AdapterInformation(index: 0, address: address("00:AA:01:00:00:42")), AdapterInformation(index: 2),
                ]), "there is no hci1; present: hci0 00:AA:01:00:00:42, hci2"
            ),
            (
                .adapterHeld(by: nil),
                "hci1 is in use by another program; stop it, choose another adapter, "
                    + "or have one program do both: see \"Sharing an adapter\" in Documentation/Linux.md"
            ),
            (
                .adapterHeld(by: AdapterHolder(processIdentifier: 12, program: "central")),
                "hci1 is in use by central (process 12); stop it, choose another adapter, "
                    + "or have one program do both: see \"Sharing an adapter\" in Documentation/Linux.md"
            ),
            (
                .adapterHeld(by: AdapterHolder(processIdentifier: 12)),
                "hci1 is in use by process 12; stop it, choose another adapter, "
                    + "or have one program do both: see \"Sharing an adapter\" in Documentation/Linux.md"
            ),
            (
                .adapterHeld(by: AdapterHolder(processIdentifier: getpid(), program: "central")),
                "hci1 is in use by this program already; use the adapter that it has opened: it serves any number of tasks "
                    + "and managers"
            ),
            (
                .invalidEnvironment(TransportNameError(text: "hci9", reason: .unknownKind)),
                TransportNameError(text: "hci9", reason: .unknownKind).description
            ),
            (
                .adapterBroughtUp,
                "another program keeps bringing hci1 up; stop it: sudo systemctl stop bluetooth"
            ),
            (
                .adapterInitializing,
                "hci1 is still being set up by the kernel; try again in a few seconds, or plug it in again"
            ),
            (
                .adapterBlocked(.hardware),
                "the radio of hci1 is switched off by a switch or key of this machine; switch it on there"
            ),
            (
                .adapterBlocked(.software),
                "the radio of hci1 is switched off; switch it on: sudo rfkill unblock bluetooth"
            ),
            (
                .notPermitted(executable: "/opt/ble"),
                "not permitted to take over hci1; grant it: sudo setcap cap_net_admin+ep /opt/ble"
            ),
            (
                .notPermitted(executable: "/my code/it's"),
                "not permitted to take over hci1; grant it: sudo setcap cap_net_admin+ep '/my code/it'\\''s'"
            ),
            (
                .notPermitted(executable: nil),
                "root lacks CAP_NET_ADMIN here, and cannot take over hci1; in a container, run it with "
                    + "--cap-add=NET_ADMIN --network=host"
            ),
            (.outputFull(pending: 9), "the other side does not read: 9 bytes are pending"),
            (.captureNotWritable(code: ENOSPC), "the capture cannot be written: No space left on device"),
            (.system(call: "bind", code: EACCES), "bind: Permission denied"),
        ] as [(TransportError.Reason, String)])
    func descriptions(reason: TransportError.Reason, text: String) {
        let description = TransportError(reason, transport: "hci-socket:1").description
        #expect(description == "hci-socket:1: " + text)
        #expect(!description.contains("\n"))
    }

    @Test(
        "an adapter is called by the name the user gave",
        arguments: [
            ("hci-socket:2", "hci2"), ("hci-socket:00:AA:01:00:00:42", "00:AA:01:00:00:42"),
            ("hci-socket", "the adapter"),
        ])
    func adapterNames(transport: String, name: String) {
        let error = TransportError(.adapterRemoved, transport: transport)
        #expect(
            error.description == "\(transport): \(name) is gone: it was unplugged, or taken down by another program")
    }

    @Test(
        "a closed connection is distinguished from other failures",
        arguments: [
            (EPIPE, .adapterRemoved), (ECONNRESET, .adapterRemoved), (ENODEV, .adapterRemoved),
            (ENETDOWN, .adapterRemoved), (EINVAL, .system(call: "send", code: EINVAL)),
        ] as [(Int32, TransportError.Reason)])
    func transferring(code: Int32, reason: TransportError.Reason) {
        #expect(TransportError.Reason(transferring: Errno(code), call: "send", end: .adapterRemoved) == reason)
    }

    @Test(
        "errors when connecting",
        arguments: [
            (ECONNREFUSED, .connectionRefused), (ENOENT, .connectionRefused), (ETIMEDOUT, .timedOut),
            (EHOSTUNREACH, .unreachable(detail: "No route to host")),
            (EACCES, .system(call: "connect", code: EACCES)),
        ] as [(Int32, TransportError.Reason)])
    func connecting(code: Int32, reason: TransportError.Reason) {
        #expect(TransportError.Reason(connecting: Errno(code)) == reason)
    }
}
