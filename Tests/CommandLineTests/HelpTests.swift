import ArgumentParser
import Testing

@testable import ble
@testable import central
@testable import BluetoothCommandLine
@testable import peripheral

/// The help of every command there is.
struct HelpTests {
    /// All commands by what calls them, such as "ble bonds list".
    static let commands: [String: (root: any ParsableCommand.Type, command: any ParsableCommand.Type)] = {
        var commands: [String: (root: any ParsableCommand.Type, command: any ParsableCommand.Type)] = [:]
        func add(_ command: any ParsableCommand.Type, _ path: String, _ root: any ParsableCommand.Type) {
            commands[path] = (root, command)
            for subcommand in command.configuration.subcommands {
                add(subcommand, "\(path) \(subcommand._commandName)", root)
            }
        }
        let programs: [any ParsableCommand.Type] = [BLE.self, Central.self, Peripheral.self]
        for program in programs { add(program, program._commandName, program) }
        return commands
    }()

    static func help(_ path: String, columns: Int = 80) throws -> String {
        func text(_ root: (some ParsableCommand).Type, _ command: any ParsableCommand.Type) -> String {
            root.help(for: command, columns: columns)
        }
        let entry = try #require(commands[path])
        return text(entry.root, entry.command)
    }

    @Test("The help of each command fits 80 columns", arguments: commands.keys.sorted())
    func width(path: String) throws {
        for line in try Self.help(path).split(separator: "\n") {
            #expect(line.count <= 80, "\(line)")
        }
    }

    @Test(
        "The help of each command has examples that call it, and the table of exit statuses",
        arguments: commands.keys.sorted())
    func examples(path: String) throws {
        let lines = try Self.help(path).split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex { $0 == HelpText.examples[...] })
        let examples = lines[(start + 1)...].prefix { !$0.isEmpty }
        #expect(examples.contains { $0.contains(path) }, "\(examples)")
        #expect(lines.contains { $0 == HelpText.statuses[...] })
        #expect(lines.contains("  3  nothing suitable was found in time"))
    }

    @Test("The prose of each command has no double spaces", arguments: commands.keys.sorted())
    func holes(path: String) throws {
        let configuration = try #require(Self.commands[path]?.command.configuration)
        let discussion = configuration.discussion
        let end = discussion.firstRange(of: HelpText.examples)?.lowerBound ?? discussion.endIndex
        let prose = discussion[..<end] + configuration.abstract
        #expect(!prose.contains("  "), "\(prose)")
    }

    @Test("The help of ble decode states that --bonds has no default")
    func noDefault() throws {
        let help = try Self.help("ble decode", columns: 200)
        #expect(help.contains("By default, no keys are named.") && !help.contains("XDG_STATE_HOME"))
    }

    @Test("Each program prints its version", arguments: ["ble", "central", "peripheral"])
    func version(program: String) throws {
        let command = try #require(Self.commands[program]?.command)
        #expect(command.configuration.version == "\(program) \(ProgramVersion.number)")
    }

    @Test("The usage is wrapped between arguments")
    func usage() {
        let help = "OVERVIEW: It.\n\nUSAGE: it [--first <one>] [--second] <third>\n\nOPTIONS:\n  --first"
        #expect(
            HelpText.wrapped(help, columns: 30)
                == "OVERVIEW: It.\n\nUSAGE: it [--first <one>]\n       [--second] <third>\n\nOPTIONS:\n  --first")
        #expect(HelpText.wrapped(help, columns: 80) == help)
    }

    @Test(
        "A word that is nearly a command suggests it",
        arguments: [
            ("scna", "scan"), ("Scan", "scan"), ("reed", "read"), ("notfy", "notify"), ("bond", "bonds"),
            ("frobnicate", nil),
            ("x", nil), ("", nil), (String(repeating: "scan", count: 1000), nil),
        ] as [(String, String?)])
    func suggestion(word: String, expected: String?) {
        #expect(Suggestion.closest(to: word, among: ["scan", "read", "notify", "bonds"]) == expected)
    }

    @Test(
        "An argument error points to the help of its command",
        arguments: [
            (["scna"], "Unknown command 'scna'. Did you mean 'scan'? See ble --help"),
            (
                ["raed", "A", "2A19", "--transport", "unix-client:a"],
                "Unknown command 'raed'. Did you mean 'read'? See ble --help"
            ),
            (["frobnicate"], "Unknown command 'frobnicate'; see ble --help"),
            (["bonds", "lits"], "Did you mean 'list'? See ble bonds --help"),
            (["read"], "Missing expected argument '<device>'; see ble read --help"),
            (["read", "C0:11", "2A19"], "an address has six octets, such as C0:11:22:33:44:55"),
            (["read", "A", "heart"], "give a UUID such as 2A37"),
            (["notify", "A", "2A37", "--count", "0"], "at least 1"),
            (["read", "A", "2A37", "--json", "--csv"], "choose one"),
            (["write", "A", "2A37"], "each uuid needs a value"),
            (["read", "A", "2A37", "--tiemout", "3"], "Did you mean '--timeout'? See ble read --help"),
        ])
    func refusal(arguments: [String], words: String) async throws {
        let error = await #expect(throws: (any Error).self) { _ = try await BLE.asyncParseAsRoot(arguments) }
        let failure = BLE.failure(of: try #require(error), arguments)
        #expect(failure.status == .usage)
        let message = try #require(failure.message)
        #expect(message.contains(words), "\(message)")
    }
}
