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

    @Test("What nobody reads is dropped and counted, and what comes after that is written again")
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
        #expect(Self.text(of: reader) == "(\(dropped) messages were dropped, since nobody read them)\nb\n")
        diagnostics.write("c\n")
        #expect(Self.text(of: reader) == "c\n")
    }

    @Test("A message longer than a pipe takes at once is written to a reader who reads")
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

    @Test("Nobody is told that nobody can be told")
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
