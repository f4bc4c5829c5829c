import BluetoothLE
import Synchronization
import Testing

@testable import BluetoothCommandLine

/// A terminal at which somebody types lines that are known before. It shows what is written, and answers when asked.
private final class ScriptedTerminal: Terminal {
    let isInteractive: Bool
    private let state: Mutex<(lines: [String?], shown: String, receive: (@Sendable (String?) -> Void)?)>
    /// What happens when something is shown.
    private let reaction = Mutex<@Sendable (String) -> Void>({ _ in })

    /// - Parameter lines: what is typed; nil is the end of the input. Without a line nobody types, for now.
    init(_ lines: [String?] = [], isInteractive: Bool = true) {
        self.isInteractive = isInteractive
        state = Mutex((lines, "", nil))
    }

    func react(_ body: @escaping @Sendable (String) -> Void) { reaction.withLock { $0 = body } }

    var shown: String { state.withLock { $0.shown } }

    func write(_ text: String) {
        state.withLock { $0.shown += text }
        reaction.withLock { $0 }(text)
    }

    func ask(_ question: String) { write(question) }

    func withdrawQuestion() { write("\n") }

    func discardTypeAhead() { write("|") }

    func readLine(_ receive: @escaping @Sendable (String?) -> Void) {
        let line = state.withLock { state -> String?? in
            guard !state.lines.isEmpty else {
                state.receive = receive
                return nil
            }
            return state.lines.removeFirst()
        }
        if let line { receive(line) }
    }

    /// Somebody types after all.
    func type(_ line: String?) {
        let receive = state.withLock { state in
            defer { state.receive = nil }
            return state.receive
        }
        receive?(line)
    }
}

/// Questions to the person at the terminal.
struct TerminalPromptTests {
    private static let peer = PeerID(DeviceAddress(0xC0DE_0000_000F, kind: .random))
    private static let other = PeerID(DeviceAddress(0xC0DE_0000_000C, kind: .random))

    @Test(
        "A passkey has exactly six digits",
        arguments: [
            ("000000", 0), ("042195", 42195), ("999999", 999_999), ("12345", nil), ("1234567", nil), ("12345a", nil),
            ("+12345", nil), ("-12345", nil), ("", nil), (" 12345", nil), ("１２３４５６", nil), ("0x1234", nil),
        ] as [(String, UInt32?)])
    func passkey(text: String, value: UInt32?) {
        #expect(Passkey(argument: text)?.value == value)
        if let value { #expect(Passkey(value).description == text) }
    }

    @Test(
        "A yes-or-no question is repeated until it is answered",
        arguments: [
            (["y"], true), (["YES "], true), (["n"], false), ([" No"], false), (["", "perhaps", "y"], true),
            ([nil], false), (["what", nil], false),
        ] as [([String?], Bool)])
    func confirmation(lines: [String?], expected: Bool) async {
        let terminal = ScriptedTerminal(lines)
        let desk = PairingDesk(prompt: TerminalPrompt(terminal))
        #expect(await desk.isConfirmed("really?", about: Self.peer) == expected)
        #expect(terminal.shown.count(of: "really? [y/n] ") == lines.count)
    }

    @Test("What was typed before a question is discarded, and what is typed after it answers it even if it is repeated")
    func typeAhead() async {
        let terminal = ScriptedTerminal(["perhaps", "y", "n"])
        let desk = PairingDesk(prompt: TerminalPrompt(terminal))
        #expect(await desk.isConfirmed("first?", about: Self.peer))
        #expect(await !desk.isConfirmed("second?", about: Self.peer))
        let hint = "type y for yes or n for no\n"
        #expect(terminal.shown == "|first? [y/n] \(hint)first? [y/n] |second? [y/n] ")
    }

    @Test("Without a terminal, a question is refused with one line")
    func unattended() async {
        let terminal = ScriptedTerminal(isInteractive: false)
        let desk = PairingDesk(prompt: TerminalPrompt(terminal))
        #expect(await !desk.isConfirmed("really?", about: Self.peer))
        #expect(terminal.shown.count(of: "\n") == 1)
        #expect(terminal.shown.contains("C0:DE:00:00:00:0F is refused"))
    }

    @Test("After the end of the input, no more questions are asked")
    func end() async {
        let terminal = ScriptedTerminal([nil])
        let prompt = TerminalPrompt(terminal)
        let desk = PairingDesk(prompt: prompt)
        #expect(await !desk.isConfirmed("really?", about: Self.peer))
        #expect(!prompt.isInteractive)
        #expect(await !desk.isConfirmed("really?", about: Self.peer))
        #expect(terminal.shown.count(of: "really?") == 1)
    }

    @Test("A typed line answers the question that is shown, not one that was withdrawn")
    func withdrawn() async {
        let terminal = ScriptedTerminal()
        let prompt = TerminalPrompt(terminal)
        let desk = PairingDesk(prompt: prompt)
        terminal.react { text in
            guard text.hasPrefix("first?") else { return }
            prompt.withdraw(about: Self.other)
            prompt.withdraw(about: Self.peer)
        }
        #expect(await !desk.isConfirmed("first?", about: Self.peer))
        terminal.react { text in
            if text.hasPrefix("second?") { terminal.type("y") }
        }
        #expect(await desk.isConfirmed("second?", about: Self.other))
    }

    @Test("Cancelling a task ends its question")
    func cancelled() async {
        let terminal = ScriptedTerminal()
        let desk = PairingDesk(prompt: TerminalPrompt(terminal))
        let task = Mutex<Task<Bool, Never>?>(nil)
        terminal.react { text in
            if text.hasPrefix("really?") { task.withLock { $0?.cancel() } }
        }
        // It cannot ask before the task is known.
        let asking = task.withLock { task in
            let asking = Task { await desk.isConfirmed("really?", about: Self.peer) }
            task = asking
            return asking
        }
        #expect(await !asking.value)
    }
}

extension String {
    fileprivate func count(of part: String) -> Int { ranges(of: part).count }
}
