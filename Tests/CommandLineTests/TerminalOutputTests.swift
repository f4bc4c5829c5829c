import BluetoothPlatform
import Testing

@testable import BluetoothCommandLine

/// What is shown on a terminal only.
struct TerminalOutputTests {
    @Test(
        "Colors are used only on terminals, unless the environment disables them",
        arguments: [
            (true, [:], true), (false, [:], false), (true, ["NO_COLOR": "1"], false), (true, ["NO_COLOR": ""], true),
            (true, ["TERM": "dumb"], false), (true, ["TERM": "xterm"], true),
        ] as [(Bool, [String: String], Bool)])
    func colours(isTerminal: Bool, environment: [String: String], expected: Bool) {
        let palette = Palette(isTerminal: isTerminal) { environment[$0] }
        #expect(palette.isColoured == expected)
        #expect(palette(.red, "a") == (expected ? "\u{1B}[31ma\u{1B}[0m" : "a"))
    }

    @Test(
        "A bar shows the completed fraction",
        arguments: [
            (0, "writes [........................] 0 % 1 kbit/s"),
            (0.5, "writes [############............] 50 % 1 kbit/s"),
            (0.999, "writes [#######################.] 99 % 1 kbit/s"),
            (1, "writes [########################] 100 % 1 kbit/s"),
            (7, "writes [########################] 100 % 1 kbit/s"),
            (-1, "writes [........................] 0 % 1 kbit/s"),
        ] as [(Double, String)])
    func bar(fraction: Double, expected: String) {
        #expect(ProgressBar.line("writes", fraction, "1 kbit/s") == expected)
    }

    /// What a few calls write.
    private func written(_ calls: (Diagnostics) -> Void) -> String {
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        calls(Diagnostics(ends[1]))
        close(ends[1])
        defer { close(ends[0]) }
        var buffer = [UInt8](repeating: 0, count: 1 << 12)
        let count = read(ends[0], &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    @Test("Text in place is replaced by the next text and by a message")
    func inPlace() {
        let text = written {
            $0.writeInPlace("1 s")
            $0.writeInPlace("2 s")
            $0.write("found\n")
            $0.write("connected\n")
        }
        #expect(text == "\r\u{1B}[K1 s\r\u{1B}[K2 s\r\u{1B}[Kfound\nconnected\n")
    }

    @Test("Text in place is kept or erased at its end; without such text, ending it does nothing")
    func endInPlace() {
        let text = written {
            $0.endLineInPlace(isKept: true)
            $0.writeInPlace("40 octets")
            $0.endLineInPlace(isKept: true)
            $0.writeInPlace("1 s")
            $0.endLineInPlace(isKept: false)
            $0.endLineInPlace(isKept: false)
        }
        #expect(text == "\r\u{1B}[K40 octets\n\r\u{1B}[K1 s\r\u{1B}[K")
    }

    @Test("Nothing replaces a question that is being answered")
    func question() {
        let text = written {
            $0.ask("allow it? [y/n] ")
            $0.writeInPlace("1 s")
            $0.endLineInPlace(isKept: false)
            $0.questionAnswered()
            $0.write("paired\n")
            $0.writeInPlace("2 s")
        }
        #expect(text == "allow it? [y/n] paired\n\r\u{1B}[K2 s")
    }
}
