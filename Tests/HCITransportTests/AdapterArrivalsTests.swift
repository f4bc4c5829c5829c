import BluetoothPlatform
import Testing

@testable import HCITransport

struct AdapterArrivalsTests {
    private func arrivals(_ answers: [ScriptedSocket.Answer]) throws -> (AdapterArrivals, ScriptedSocket) {
        let socket = ScriptedSocket(incoming: answers)
        return (try AdapterArrivals(open: { 7 }, calls: socket.calls), socket)
    }

    @Test(
        "the arrival of an adapter is distinguished from everything else",
        arguments: [
            ("Index Added", [0x04, 0x00, 0x01, 0x00, 0x00, 0x00], true),
            ("Unconfigured Index Added", [0x1D, 0x00, 0x01, 0x00, 0x00, 0x00], true),
            ("Extended Index Added", [0x20, 0x00, 0x01, 0x00, 0x02, 0x00, 0x00, 0x01], true),
            ("Index Removed", [0x05, 0x00, 0x01, 0x00, 0x00, 0x00], false),
            ("Unconfigured Index Removed", [0x1E, 0x00, 0x01, 0x00, 0x00, 0x00], false),
            ("New Settings", [0x06, 0x00, 0x01, 0x00, 0x04, 0x00, 0x80, 0x0A, 0x00, 0x00], false),
            ("another code with the same low octet", [0x04, 0x01, 0x01, 0x00, 0x00, 0x00], false),
            ("a header cut short", [0x04, 0x00, 0x01, 0x00, 0x00], false),
            ("a length that is not true", [0x04, 0x00, 0x01, 0x00, 0x01, 0x00], false),
            ("a packet longer than any", [UInt8](repeating: 0x04, count: 600), false),
        ] as [(String, [UInt8], Bool)])
    func telling(_: String, packet: [UInt8], isArrival: Bool) throws {
        let (arrivals, _) = try arrivals([.bytes(packet)])
        let result = arrivals.drain()
        #expect(result == isArrival)
        #expect(arrivals.fileDescriptor == 7)
    }

    @Test("all pending packets are read, and any arrival among them counts")
    func severalPackets() throws {
        let added: [UInt8] = [0x04, 0x00, 0x01, 0x00, 0x00, 0x00],
            removed: [UInt8] = [0x05, 0x00, 0x01, 0x00, 0x00, 0x00]
        let (arrivals, _) = try arrivals([.fails(EINTR), .bytes(added), .bytes(removed)])
        let first = arrivals.drain(), second = arrivals.drain()
        #expect(first)
        #expect(!second)
    }

    @Test("a flood is read in batches")
    func flood() throws {
        let removed: [UInt8] = [0x05, 0x00, 0x01, 0x00, 0x00, 0x00],
            added: [UInt8] = [0x04, 0x00, 0x01, 0x00, 0x00, 0x00]
        let flood = [ScriptedSocket.Answer](repeating: .bytes(removed), count: AdapterArrivals.packetsPerDrain)
        let (arrivals, _) = try arrivals(flood + [.bytes(added)])
        let first = arrivals.drain(), second = arrivals.drain()
        #expect(!first)
        #expect(second)
    }

    @Test("a socket that fails is closed, and reported once", arguments: [ENODEV, ENOTCONN])
    func failure(code: Int32) throws {
        let (arrivals, socket) = try arrivals([.fails(code)])
        let first = arrivals.drain(), second = arrivals.drain()
        #expect(first)
        #expect(!second)
        #expect(arrivals.fileDescriptor == -1)
        #expect(socket.closed == [7])
    }

    @Test("closing closes the socket once")
    func closing() throws {
        let (arrivals, socket) = try arrivals([])
        arrivals.close()
        arrivals.close()
        #expect(socket.closed == [7])
        #expect(arrivals.fileDescriptor == -1)
    }

    @Test("a kernel without Bluetooth is an error")
    func unavailable() {
        #expect(throws: TransportError(.bluetoothUnavailable, transport: "hci-socket")) {
            try AdapterArrivals(open: { () throws(Errno) in throw Errno(EAFNOSUPPORT) })
        }
    }

    @Test("the real kernel lets us listen, or has no Bluetooth")
    func realKernel() throws {
        do throws(TransportError) {
            let arrivals = try AdapterArrivals()
            let result = arrivals.drain()
            #expect(!result)
        } catch {
            #expect(error.reason == .bluetoothUnavailable)
        }
    }
}
