import BluetoothBase
import BluetoothHCI
import CBluetoothHCI
import BluetoothPlatform
import Testing

@testable import HCITransport

@Suite("The kernel's monitor channel")
struct HCIMonitorTests {
    private func monitor(_ answers: [ScriptedSocket.Answer]) throws -> (HCIMonitor, ScriptedSocket) {
        let socket = ScriptedSocket(incoming: answers)
        let calls = MonitorCalls(
            open: { (_) throws(Errno) in 7 },
            receive: { descriptor, buffer, microseconds in
                microseconds = 1_000_001
                return socket.calls.receive(descriptor, buffer)
            },
            close: socket.calls.close, executable: { "/opt/ble" })
        return (try HCIMonitor(calls: calls), socket)
    }

    private func records(_ monitor: HCIMonitor) throws -> [(BTSnoop.Record, [UInt8])] {
        var records: [(BTSnoop.Record, [UInt8])] = []
        try monitor.receive { record, packet in records.append((record, Array(packet))) }
        return records
    }

    @Test("packets get the indicator they lack, and notes are unchanged")
    func kinds() throws {
        let (monitor, _) = try monitor([
            .bytes([0x02, 0x00, 0x01, 0x00, 0x03, 0x00, 0x03, 0x0C, 0x00]),
            .fails(EINTR),
            .bytes([0x05, 0x00, 0x00, 0x00, 0x02, 0x00, 0xAA, 0xBB]),
            .bytes([0x0C, 0x00, 0xFF, 0xFF, 0x02, 0x00, 0x68, 0x69]),
            .bytes([0x63, 0x01, 0x02, 0x00, 0x00, 0x00]),
        ])
        let records = try records(monitor)
        #expect(records.map(\.1) == [[0x01, 0x03, 0x0C, 0x00], [0x02, 0xAA, 0xBB], [0x68, 0x69], []])
        #expect(records.map(\.0.type) == [.command, .aclData, nil, nil])
        #expect(records.map(\.0.adapter) == [1, 0, nil, 2])
        #expect(records.map(\.0.direction) == [.sent, .received, .received, .received])
        #expect(records.map(\.0.originalLength) == [3, 2, 2, 0])
        #expect(records.allSatisfy { $0.0.microsecondsSince1970 == 1_000_001 })
        #expect(records[3].0.monitorOpcode?.rawValue == 0x0163)
    }

    @Test(
        "malformed records are skipped",
        arguments: [
            [0x02, 0x00, 0x01, 0x00, 0x03], [0x02, 0x00, 0x01, 0x00, 0x04, 0x00, 0x03],
            [0x02, 0x00, 0x01, 0x00, 0x00, 0x00, 0x03],
            [UInt8](repeating: 0, count: 70_000),
        ] as [[UInt8]])
    func malformed(_ bytes: [UInt8]) throws {
        let (monitor, _) = try monitor([.bytes(bytes), .bytes([0x08, 0x00, 0x00, 0x00, 0x00, 0x00])])
        #expect(try records(monitor).map(\.0.monitorOpcode) == [.openIndex])
    }

    @Test("a flood is read in batches")
    func flood() throws {
        let record = ScriptedSocket.Answer.bytes([0x08, 0x00, 0x00, 0x00, 0x00, 0x00])
        let (monitor, _) = try monitor(Array(repeating: record, count: HCIMonitor.recordsPerReceive + 1))
        #expect(try records(monitor).count == HCIMonitor.recordsPerReceive)
        #expect(try records(monitor).count == 1)
    }

    @Test("the end of the stream and a failure are errors, and the socket is closed once")
    func ends() throws {
        for answer in [ScriptedSocket.Answer.bytes([]), .fails(ENODEV)] {
            let (monitor, socket) = try monitor([answer])
            #expect(throws: TransportError(.closedByPeer, transport: "monitor")) { try records(monitor) }
            monitor.close()
            monitor.close()
            #expect(socket.closed == [7])
            #expect(throws: TransportError(.closed, transport: "monitor")) { try records(monitor) }
        }
    }

    @Test(
        "an error when opening the monitor says what to do",
        arguments: [
            (
                EPERM, "/opt/my ble",
                "monitor: not permitted to read the adapters' traffic; grant it: "
                    + "sudo setcap cap_net_raw,cap_net_admin+ep '/opt/my ble'"
            ),
            (
                EACCES, nil,
                "monitor: root lacks CAP_NET_RAW here, and cannot read the adapters' traffic; in a "
                    + "container, run it with --cap-add=NET_RAW --network=host"
            ),
            (
                EAFNOSUPPORT, nil,
                "monitor: this kernel has no Bluetooth sockets; try: sudo modprobe bluetooth (in a container, "
                    + "also run it with the host's network), or use a transport that needs no adapter"
            ),
        ] as [(Int32, String?, String)])
    func refusal(_ code: Int32, _ executable: String?, _ text: String) {
        let calls = MonitorCalls(
            open: { (_) throws(Errno) in throw Errno(code) }, receive: { _, _, _ in 0 }, close: { _ in },
            executable: { executable })
        let error = #expect(throws: TransportError.self) { try HCIMonitor(calls: calls) }
        #expect(error?.description == text)
    }

    @Test("the kernel's call reports the full length of a packet that is too long, and its time")
    func receiving() throws {
        let (one, other) = try Socket.pair(cbt_packet_socket, name: "pair")
        defer {
            close(one)
            close(other)
        }
        #expect(send(one, [UInt8](repeating: 0xAB, count: 10), 10, 0) == 10)
        var buffer = [UInt8](repeating: 0, count: 4), microseconds: Int64 = 0
        let count = buffer.withUnsafeMutableBytes { MonitorCalls.kernel.receive(other, $0, &microseconds) }
        #expect(count == 10 && buffer == [0xAB, 0xAB, 0xAB, 0xAB] && microseconds > 1_600_000_000_000_000)
        let nothing = buffer.withUnsafeMutableBytes { MonitorCalls.kernel.receive(other, $0, &microseconds) }
        #expect(nothing == -Int(EAGAIN))
    }
}
