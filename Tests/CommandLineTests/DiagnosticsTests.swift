import BluetoothPlatform
import Dispatch
import Testing

@testable import BluetoothCommandLine

/// Messages for somebody who may not read them.
struct DiagnosticsTests {
    private static func makePipe() -> (reader: Int32, writer: Int32) {
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        return (ends[0], ends[1])
    }

    /// All that can be read now.
    private static func text(of descriptor: Int32) -> String {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        var text: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 { text += buffer[..<count] }
        return String(decoding: text, as: UTF8.self)
    }

    @Test("Unread messages are dropped and counted, and later messages are written again")
    func drops() {
        let (reader, writer) = Self.makePipe()
        defer {
            close(reader)
            close(writer)
        }
        let diagnostics = Diagnostics(writer, patience: .zero)
        let line = String(repeating: "a", count: 999) + "\n"
        // A pipe holds 65536 octets.
        for _ in 0..<100 { diagnostics.write(line) }
        let lines = Self.text(of: reader).split(separator: "\n", omittingEmptySubsequences: false)
        #expect((50..<66).contains(lines.count))
        diagnostics.write("b\n")
        let dropped = 100 - (lines.count - 1)
        #expect(Self.text(of: reader) == "(dropped \(counted(dropped, "message")) because nobody read them)\nb\n")
        diagnostics.write("c\n")
        #expect(Self.text(of: reader) == "c\n")
    }

    @Test("A message longer than a pipe's buffer is written completely if it is read")
    func long() async {
        let (reader, writer) = Self.makePipe()
        let text = String(repeating: "0123456789", count: 20_000)
        let (received, receiver) = AsyncStream.makeStream(of: String.self)
        // A thread of its own: both sides block, and there may be but two for tasks.
        DispatchQueue(label: "reader").async {
            var all: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 1 << 12)
            while case let count = read(reader, &buffer, buffer.count), count > 0 { all += buffer[..<count] }
            receiver.yield(String(decoding: all, as: UTF8.self))
        }
        Diagnostics(writer, patience: .seconds(300)).write(text)
        close(writer)
        #expect(await received.first { _ in true } == text)
        close(reader)
    }

    @Test("A question stays below later output, until it is answered or withdrawn")
    func question() throws {
        let (reader, writer) = Self.makePipe()
        defer {
            close(reader)
            close(writer)
        }
        let erasure = "\r\u{1B}[K"
        let diagnostics = Diagnostics(writer, sharesScreen: true)
        diagnostics.writeInPlace("waiting")
        diagnostics.ask("allow it? ")
        #expect(Self.text(of: reader) == erasure + "waiting" + erasure + "allow it? ")
        diagnostics.write("a line\n")
        #expect(Self.text(of: reader) == erasure + "a line\nallow it? ")
        // Standard output is on the same screen.
        diagnostics.makingRoom { #expect(Self.text(of: reader) == erasure) }
        #expect(Self.text(of: reader) == "allow it? ")
        diagnostics.writeInPlace("waiting")
        #expect(Self.text(of: reader) == "")
        diagnostics.questionAnswered()
        diagnostics.write("b\n")
        #expect(Self.text(of: reader) == "b\n")
        diagnostics.ask("again? ")
        diagnostics.withdrawQuestion()
        diagnostics.withdrawQuestion()
        #expect(Self.text(of: reader) == "again? \n")
    }

    @Test("A question, a message and text in place do not erase output that lacks an end of line")
    func partialOutput() {
        let (reader, writer) = Self.makePipe()
        defer {
            close(reader)
            close(writer)
        }
        let erasure = "\r\u{1B}[K"
        let diagnostics = Diagnostics(writer, sharesScreen: true)
        diagnostics.ask("allow it? ")
        diagnostics.makingRoom(endsLine: false) { #expect(Self.text(of: reader) == "allow it? " + erasure) }
        #expect(Self.text(of: reader) == "\nallow it? ")
        diagnostics.questionAnswered()
        diagnostics.makingRoom(endsLine: false) {}
        diagnostics.makingRoom(endsLine: false) {}
        #expect(Self.text(of: reader) == "")
        diagnostics.ask("again? ")
        #expect(Self.text(of: reader) == "\nagain? ")
        diagnostics.withdrawQuestion()
        diagnostics.makingRoom(endsLine: false) {}
        diagnostics.write("a\n")
        diagnostics.makingRoom(endsLine: false) {}
        diagnostics.writeInPlace("waiting")
        #expect(Self.text(of: reader) == "\n" + "\na\n" + "\nwaiting")
        diagnostics.makingRoom(endsLine: true) {}
        diagnostics.write("b\n")
        #expect(Self.text(of: reader) == erasure + "b\n")
    }

    @Test(
        "A question is erased on all rows that it occupies", arguments: [(19, 0), (20, 0), (21, 1), (40, 1), (41, 2)])
    func wrapped(_ length: Int, _ rows: Int) {
        let (reader, writer) = Self.makePipe()
        defer {
            close(reader)
            close(writer)
        }
        let diagnostics = Diagnostics(writer, sharesScreen: true, columns: { 20 })
        let question = String(repeating: "?", count: length)
        diagnostics.ask(question)
        diagnostics.write("a\n")
        let erasure = rows == 0 ? "\r\u{1B}[K" : "\r\u{1B}[\(rows)A\u{1B}[J"
        #expect(Self.text(of: reader) == question + erasure + "a\n" + question)
        diagnostics.makingRoom { #expect(Self.text(of: reader) == erasure) }
        #expect(Self.text(of: reader) == question)
    }

    @Test("A question asked during output is shown once, and one withdrawn during output is not shown again")
    func duringOutput() {
        let (reader, writer) = Self.makePipe()
        defer {
            close(reader)
            close(writer)
        }
        let erasure = "\r\u{1B}[K"
        let diagnostics = Diagnostics(writer, sharesScreen: true)
        diagnostics.ask("first? ")
        diagnostics.makingRoom {
            diagnostics.makingRoom {}
            diagnostics.write("a\n")
            diagnostics.ask("second? ")
        }
        #expect(Self.text(of: reader) == "first? " + erasure + "a\n" + "second? ")
        diagnostics.makingRoom { diagnostics.withdrawQuestion() }
        diagnostics.write("b\n")
        #expect(Self.text(of: reader) == erasure + "b\n")
    }

    @Test("Standard output does not run into text in place")
    func room() {
        let (reader, writer) = Self.makePipe()
        defer {
            close(reader)
            close(writer)
        }
        let diagnostics = Diagnostics(writer, sharesScreen: true)
        diagnostics.writeInPlace("waiting")
        diagnostics.makingRoom {}
        diagnostics.makingRoom {}
        diagnostics.write("b\n")
        let erasure = "\r\u{1B}[K"
        #expect(Self.text(of: reader) == erasure + "waiting" + erasure + "b\n")
        // Elsewhere it is left alone.
        let other = Diagnostics(writer, sharesScreen: false)
        other.writeInPlace("waiting")
        other.makingRoom {}
        #expect(Self.text(of: reader) == erasure + "waiting")
    }

    @Test("A closed standard error is ignored")
    func closed() {
        let (reader, writer) = Self.makePipe()
        signal(SIGPIPE, SIG_IGN)
        close(reader)
        let diagnostics = Diagnostics(writer)
        diagnostics.write("a\n")
        close(writer)
        diagnostics.write("b\n")
    }
}
