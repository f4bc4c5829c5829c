import BluetoothBase
import BluetoothHCI
import BluetoothPlatform
import CBluetoothHCI
import Synchronization
import Testing

@testable import HCITransport

/// `vhci`, against a scripted kernel.
struct VirtualHCITests {
    private func open(_ device: ScriptedSocket) throws(TransportError) -> PacketTransport {
        try VirtualHCI.open(path: "/dev/vhci", calls: device.calls) { _ in 7 }
    }

    @Test("a controller is announced, and the kernel returns its adapter")
    func announced() throws {
        let device = ScriptedSocket(
            incoming: [.bytes([0xFF, 0x00, 0x02, 0x01]), .bytes(reset)], outgoing: [.takesAll, .takesAll])
        let controller = try open(device)
        #expect(device.written == [[0xFF, 0x00]])
        #expect(controller.name == "vhci")
        #expect(controller.otherEnd == "hci258")
        #expect(controller.receiver == .controller)
        var received: [[UInt8]] = []
        try controller.receive { received.append(Array($0)) }
        #expect(received == [reset])
        try controller.send(resetComplete)
        #expect(device.written == [[0xFF, 0x00], resetComplete])
        controller.close()
        #expect(device.closed == [7])
    }

    @Test("if a command arrives before the answer, the controller is announced again")
    func overtaken() throws {
        let device = ScriptedSocket(
            incoming: [.bytes(reset), .bytes([0xFF, 0x00, 0x03, 0x00])], outgoing: [.takesAll, .takesAll])
        #expect(try open(device).otherEnd == "hci3")
        #expect(device.written == [[0xFF, 0x00], [0xFF, 0x00]])
    }

    @Test("a kernel that never answers is an error", arguments: [[], reset, [0xFF, 0x00, 0x03], [0xFF]] as [[UInt8]])
    func neverAnswered(answer: [UInt8]) {
        let device = ScriptedSocket(
            incoming: Array(repeating: .bytes(answer), count: 8), outgoing: Array(repeating: .takesAll, count: 9))
        #expect(
            reason { () throws(TransportError) in _ = try open(device) }
                == .system(call: "announcing a controller", code: EAGAIN))
        #expect(device.closed.count == 8)
    }

    @Test("a refused announcement is an error, and the device is closed", arguments: [EBUSY, EINVAL])
    func refused(code: Int32) {
        let device = ScriptedSocket(outgoing: [.fails(code)])
        #expect(
            reason { () throws(TransportError) in _ = try open(device) }
                == .system(call: "announcing a controller", code: code))
        #expect(device.closed == [7])
    }

    @Test(
        "each error when opening the device has its own reason",
        arguments: [
            (ENOENT, .device(.noVirtualHCI(path: "/dev/null"))), (ENODEV, .device(.noVirtualHCI(path: "/dev/null"))),
            (EACCES, .device(.notPermitted(path: "/dev/null", group: nil))),
            (EMFILE, .system(call: "open", code: EMFILE)),
        ] as [(Int32, TransportError.Reason)])
    func notOpened(code: Int32, expected: TransportError.Reason) {
        let device = ScriptedSocket()
        #expect(throws: TransportError(expected, transport: "vhci:/dev/null")) {
            try VirtualHCI.open(path: "/dev/null", calls: device.calls) { _ throws(Errno) in throw Errno(code) }
        }
        #expect(device.closed.isEmpty)
    }

    @Test("the error for a missing driver says what to do")
    func withoutDriver() {
        let directory = Directory(), path = directory.file("vhci")
        let name = TransportName.vhci(path: path)
        #expect(throws: TransportError(.device(.noVirtualHCI(path: path)), transport: name.description)) {
            try name.open(as: .controller)
        }
        let text = DeviceFault.noVirtualHCI(path: path).description
        #expect(
            text
                == "there is no \(path); load the driver: sudo modprobe hci_vhci "
                + "(in a container, also pass it the device)"
        )
    }

    @Test("a host cannot open vhci")
    func asHost() {
        #expect(throws: TransportError(.device(.takesControllersOnly), transport: "vhci")) {
            try TransportName.vhci(path: "/dev/vhci").open()
        }
    }

    @Test("only packets that the kernel rejects because the adapter is down are dropped")
    func down() throws {
        let device = ScriptedSocket(
            incoming: [.bytes([0xFF, 0x00, 0x00, 0x00])], outgoing: [.takesAll, .fails(ENXIO), .fails(EINVAL)])
        var calls = device.calls
        calls.send = SocketCalls.discarding(ENXIO, calls.send)
        let controller = try VirtualHCI.open(path: "/dev/vhci", calls: calls) { _ in 7 }
        try controller.send(resetComplete)
        #expect(controller.pendingByteCount == 0)
        let failure = reason { () throws(TransportError) in try controller.send(resetComplete) }
        #expect(failure == .system(call: "send", code: EINVAL))
    }
}
