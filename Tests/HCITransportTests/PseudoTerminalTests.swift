import BluetoothBase
import BluetoothHCI
import BluetoothPlatform
import CBluetoothHCI
import Testing

@testable import HCITransport

/// The two ends of a pseudo-terminal: `pty` is one, `serial:` opens the other.
struct PseudoTerminalTests {
    /// The line at the other end.
    private func line(of transport: any HCITransport) throws -> SerialLine {
        let name = try TransportName(try #require(transport.otherEnd))
        guard case .serial(let line) = name else { throw TransportNameError(text: "\(name)", reason: .unknownKind) }
        return line
    }

    /// Every byte value, as data, some of which a terminal that is not raw would change or interpret.
    private static let everyByte = [0x02, 0x40, 0x20, 0x00, 0x01] + (0...255).map { UInt8($0) }

    @Test(
        "either side may be the host; every byte passes unchanged",
        arguments: [(H4Framer.Receiver.controller, H4Framer.Receiver.host), (.host, .controller)])
    func exchange(near: H4Framer.Receiver, far: H4Framer.Receiver) throws {
        let pty = try TransportName.pty(link: nil).open(as: near)
        #expect(pty.name == "pty")
        let serial = try TransportName.serial(try line(of: pty)).open(as: far)
        let (host, controller) = far == .host ? (serial, pty) : (pty, serial)
        try host.send(reset)
        #expect(try receive(1, from: controller) == [reset])
        try controller.send(resetComplete)
        #expect(try receive(1, from: host) == [resetComplete])
        try host.send(Self.everyByte)
        try controller.send(Self.everyByte)
        #expect(try receive(1, from: controller) == [Self.everyByte])
        #expect(try receive(1, from: host) == [Self.everyByte])
    }

    @Test("the other end may close and reopen; unread bytes are not delivered to the next reader")
    func reopened() throws {
        let controller = try TransportName.pty(link: nil).open(as: .controller)
        let name = TransportName.serial(try line(of: controller))
        for _ in 0..<3 {
            let host = try name.open()
            try host.send(reset)
            #expect(try receive(1, from: controller) == [reset])
            try controller.send(resetComplete)
            try controller.send(aclData)
            #expect(try receive(2, from: host) == [resetComplete, aclData])
            // The end of a packet without a reader.
            try controller.send(aclData)
            host.close()
        }
        #expect(!controller.wantsWrite)
    }

    @Test("without a reader, pending bytes are bounded")
    func nobodyReads() throws {
        let controller = try TransportName.pty(link: nil).open(as: .controller)
        let failure = reason { () throws(TransportError) in
            for _ in 0..<10_000 { try controller.send(Self.everyByte) }
        }
        guard case .outputFull(let pending) = failure else {
            Issue.record("unexpected answer: \(String(describing: failure))")
            return
        }
        #expect(pending <= 1 << 17)
    }

    @Test("the end of a pseudo-terminal is reported as a removed device, not a closed connection")
    func hangUp() throws {
        let pty = try TransportName.pty(link: nil).open(as: .controller)
        let device = try line(of: pty).device
        let host = try TransportName.serial(SerialLine(device: device)).open()
        try host.send(reset)
        pty.close()
        #expect(try failure(of: host) == .adapterRemoved)
        #expect(reason { () throws(TransportError) in try host.send(reset) } == .adapterRemoved)
        host.close()
    }

    @Test("only one program at a time can use a line")
    func inUse() throws {
        let pty = try TransportName.pty(link: nil).open(as: .controller)
        let line = try line(of: pty)
        let name = TransportName.serial(line)
        for _ in 0..<2 {
            let host = try name.open()
            let refusal = reason { () throws(TransportError) in _ = try name.open() }
            #expect(refusal == .device(.inUse(path: line.device)))
            // The refused one has not changed the line for the other.
            try pty.send(resetComplete)
            try host.send(reset)
            #expect(try receive(1, from: pty) == [reset])
            host.close()
        }
    }

    @Test("a line's settings are restored when it closes")
    func restored() throws {
        var number: Int32 = -1
        let descriptor = try DeviceFile("/dev/ptmx").release()
        defer { close(descriptor) }
        number = cbt_terminal_unlock(descriptor)
        let other = try DeviceFile("/dev/pts/\(number)").release()
        defer { close(other) }
        func settings() throws -> [UInt8] {
            var settings = cbt_terminal()
            try #require(cbt_terminal_get(other, &settings) == 0)
            return withUnsafeBytes(of: settings) { Array($0) }
        }
        let before = try settings()
        let line = SerialLine(device: "/dev/pts/\(number)", baudRate: 1_234_567, usesFlowControl: true)
        let serial = try TransportName.serial(line).open()
        #expect(try settings() != before)
        #expect(try TerminalSettings(of: other).baudRate == 1_234_567)
        serial.close()
        serial.close()
        #expect(try settings() == before)
    }

    // MARK: - Links

    @Test("a link points to the other end, and is removed with it")
    func link() throws {
        let directory = Directory(), link = directory.file("uart")
        let controller = try TransportName("pty:\(link)").open(as: .controller)
        #expect(controller.name == "pty:\(link)")
        let host = try TransportName("serial:\(link)").open()
        try host.send(reset)
        #expect(try receive(1, from: controller) == [reset])
        controller.close()
        #expect(!exists(link))
    }

    @Test("a stale link left by a crash is replaced")
    func staleLink() throws {
        let directory = Directory(), link = directory.file("uart")
        try #require(symlink("/dev/pts/4096000", link) == 0)
        let controller = try TransportName.pty(link: link).open(as: .controller)
        #expect(exists(link))
        controller.close()
        var status = stat()
        #expect(lstat(link, &status) == -1)
    }

    @Test("a file, a link to elsewhere, and the link of another radio are left alone")
    func takenLink() throws {
        let directory = Directory()
        let file = directory.file("file"), elsewhere = directory.file("elsewhere"), other = directory.file("other")
        close(open(file, O_CREAT | O_WRONLY, 0o600))
        try #require(symlink("/nowhere", elsewhere) == 0)
        let radio = try TransportName.pty(link: other).open(as: .controller)
        for link in [file, elsewhere, other] {
            let refusal = reason { () throws(TransportError) in _ = try TransportName.pty(link: link).open() }
            #expect(refusal == .device(.linkTaken), "\(link)")
        }
        radio.close()
        var status = stat()
        #expect(exists(file) && lstat(elsewhere, &status) == 0)
    }

    @Test("a link that was replaced by another program is left alone")
    func replacedLink() throws {
        let directory = Directory(), link = directory.file("uart")
        let controller = try TransportName.pty(link: link).open(as: .controller)
        unlink(link)
        close(open(link, O_CREAT | O_WRONLY, 0o600))
        controller.close()
        #expect(exists(link))
    }

    @Test("a link that cannot be created is an error, and leaves no terminal open")
    func impossibleLink() {
        let refusal = reason { () throws(TransportError) in _ = try TransportName.pty(link: "/nowhere/uart").open() }
        #expect(refusal == .system(call: "symlink", code: ENOENT))
    }
}
