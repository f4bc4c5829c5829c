import BluetoothCommandLine
import Foundation
import Testing

/// The statements of the repository's documents about the programs and the package, as far as a program can check them.
struct DocumentTests {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The documents that tell how things are now. The change log tells how they came to be.
    static let documents: [String] = {
        let folder =
            (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: "Documentation").path)) ?? []
        let pages = folder.filter { $0.hasSuffix(".md") }.sorted().map { "Documentation/" + $0 }
        return ["README.md", "SECURITY.md", "CONTRIBUTING.md"] + pages
    }()

    // MARK: Options

    /// Options of other people's programs, to which the documents refer by the option alone.
    static let foreignOptions: Set<String> = ["--cap-add"]

    /// The pieces of code in a document: spans, and lines of blocks, each without what follows a `#`.
    static func code(in text: String) -> [Substring] {
        var pieces: [Substring] = []
        var isFenced = false
        for line in text.split(separator: "\n") {
            if line.hasPrefix("```") {
                isFenced.toggle()
            } else if isFenced || line.hasPrefix("    ") {
                pieces.append(line)
            } else {
                pieces += line.matches(of: /`([^`]+)`/).map { $0.1 }
            }
        }
        return pieces.compactMap { $0.split(separator: "#", omittingEmptySubsequences: false).first }
    }

    static func options(in text: some StringProtocol) -> [String] {
        String(text).matches(of: /(?:^|[\s\[(<|])(--[a-z][a-z0-9-]*)/).map { String($0.1) }
    }

    /// The options of each command, by the words that call it.
    static let known: [String: Set<String>] = HelpTests.commands.keys.reduce(into: [:]) { known, path in
        known[path] = Set(options(in: (try? HelpTests.help(path)) ?? "")).union(["--help", "--version"])
    }

    /// The command that a piece of code calls, and the rest of the piece up to the next program.
    static func call(in code: Substring) -> (path: String, rest: Substring)? {
        guard let match = code.firstMatch(of: /(?:^|[\s\/|])(ble|central|peripheral)((?: [a-z0-9-]+)*)(?: |$)/) else {
            return nil
        }
        var path = String(match.1)
        for word in match.2.split(separator: " ") where known["\(path) \(word)"] != nil { path += " \(word)" }
        return (path, code[match.range.lowerBound...].dropFirst().prefix { !"|;&>".contains($0) })
    }

    @Test("Each option in a document exists in the command that is called with it", arguments: documents)
    func options(document: String) throws {
        var all = Self.known.values.reduce(into: Self.foreignOptions) { $0.formUnion($1) }
        if document == "Documentation/Migration.md" {
            all.formUnion(Self.declaredOptions(in: try Self.sources(below: "Migration/Sources/AdaptTool")))
        }
        for code in Self.code(in: try Self.text(document)) {
            if let (path, rest) = Self.call(in: code) {
                for option in Self.options(in: rest) {
                    #expect(Self.known[path]?.contains(option) == true, "\(path) has no \(option): \(code)")
                }
            }
            if code.hasPrefix("--"), let option = Self.options(in: code).first {
                #expect(all.contains(option), "\(option) does not exist")
            }
        }
    }

    // MARK: Options of other packages, and of scripts

    /// The documents on other packages and on scripts. Their programs are not part of this package.
    static let otherDocuments = ["Gateway/README.md", "Benchmarks/README.md", "Tests/README.md"]

    /// The options that the sources of a program declare with swift-argument-parser.
    static func declaredOptions(in source: String) -> Set<String> {
        var options: Set<String> = ["--help", "--version"]
        for declaration in source.matches(of: /@(?:Option|Flag)\b([\s\S]*?)\bvar (\w+)/) {
            if let long = declaration.1.firstMatch(of: /customLong\("([a-z0-9-]+)"\)/) {
                options.insert("--\(long.1)")
            } else {
                let words = declaration.2.replacing(/[A-Z]+/) { "-\($0.0.lowercased())" }
                options.insert("--\(words)")
            }
        }
        return options
    }

    /// All sources below a folder, one after the other.
    static func sources(below folder: String) throws -> String {
        let files = FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)
        let all = (files?.allObjects ?? []).compactMap { $0 as? URL }
        return try all.filter { ["swift", "c", "py"].contains($0.pathExtension) }
            .map { try String(contentsOf: $0, encoding: .utf8) }.joined(separator: "\n")
    }

    /// The script of this repository that a piece of code calls, and the rest of the piece up to the next program.
    static func script(in code: Substring) -> (path: String, rest: Substring)? {
        guard
            let match = code.firstMatch(of: /(?:^|\s)((?:Scripts|Gateway|Benchmarks|Tests|Examples)\/[\w\/.-]+)(?: |$)/)
        else { return nil }
        return (String(match.1), code[match.range.upperBound...].prefix { !"|;&>".contains($0) })
    }

    @Test(
        "Each option in a document exists in the script or the other package's program",
        arguments: otherDocuments)
    func otherOptions(document: String) throws {
        let gateway = Self.declaredOptions(in: try Self.sources(below: "Gateway/Sources/ble-gateway"))
        #expect(gateway.isSuperset(of: ["--broker", "--dry-run", "--esphome-api-open", "--transport"]))
        let benchmarks = try Self.sources(below: "Benchmarks")
        let own = Self.known.values.reduce(into: gateway) { $0.formUnion($1) }
        for code in Self.code(in: try Self.text(document)) {
            if let (path, rest) = Self.call(in: code) {
                for option in Self.options(in: rest) {
                    #expect(Self.known[path]?.contains(option) == true, "\(path) has no \(option): \(code)")
                }
            } else if let match = code.firstMatch(of: /(?:^|[\s\/])ble-gateway(?: |$)/) {
                for option in Self.options(in: " " + code[match.range.upperBound...].prefix { !"|;&>".contains($0) }) {
                    #expect(gateway.contains(option), "ble-gateway has no \(option): \(code)")
                }
            } else if let (path, rest) = Self.script(in: code), let script = try? Self.text(path) {
                for option in Self.options(in: " " + rest) {
                    #expect(script.contains(option), "\(path) has no \(option): \(code)")
                }
            }
            if code.hasPrefix("--"), let option = Self.options(in: code).first {
                // Programs of the benchmarks name their options without hyphens.
                let isOfBenchmark =
                    document.hasPrefix("Benchmarks") && benchmarks.contains("\"\(option.dropFirst(2))\"")
                #expect(own.contains(option) || isOfBenchmark || Self.isOfScript(option), "\(option) does not exist")
            }
        }
    }

    /// Whether a script of this repository has an option.
    static func isOfScript(_ option: String) -> Bool {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: "Scripts").path)) ?? []
        return names.contains { name in (try? text("Scripts/\(name)"))?.contains(option) ?? false }
    }

    @Test("SECURITY.md names programs that can write a capture")
    func capture() throws {
        let text = try Self.text("SECURITY.md")
        let programs = try #require(text.firstMatch(of: /\(`--btsnoop FILE` of ([^)]*)\)/)?.1)
        let named = programs.matches(of: /`(\w+)`/).map { String($0.1) }
        #expect(named.sorted() == ["ble", "central", "peripheral"])
        for name in named {
            let commands = Self.known.filter { $0.key == name || $0.key.hasPrefix(name + " ") }
            #expect(commands.values.contains { $0.contains("--btsnoop") }, "\(name)")
        }
    }

    @Test("Options are found in the declarations of a program, and in the calls of scripts")
    func otherCalls() throws {
        let source = """
            @Option(name: .customLong("esphome-api"), help: "…")
            var esphomeAPI: String?
            @Flag(help: "…") var dryRun = false
            @OptionGroup var options: Options
            """
        #expect(Self.declaredOptions(in: source) == ["--help", "--version", "--esphome-api", "--dry-run"])
        let call = try #require(Self.script(in: "    Scripts/benchmark --smoke | tail --lines 1"))
        #expect(call.path == "Scripts/benchmark" && Self.options(in: " " + call.rest) == ["--smoke"])
    }

    @Test("Options are found in the calls of commands, and as separate spans")
    func calls() throws {
        let code = Self.code(
            in: "Use `ble bonds list --bonds DIR` or `--json`.\n\n    ble scan --json | jq --raw # --not\n")
        #expect(code == ["ble bonds list --bonds DIR", "--json", "    ble scan --json | jq --raw "])
        let first = try #require(Self.call(in: code[0])), last = try #require(Self.call(in: code[2]))
        #expect(first.path == "ble bonds list" && Self.options(in: first.rest) == ["--bonds"])
        #expect(last.path == "ble scan" && Self.options(in: last.rest) == ["--json"])
        #expect(Self.known["ble scan"]?.contains("--json") == true)
    }

    // MARK: Products and versions

    @Test
    func `the tables of Installing.md and the README list the products of the manifest`() throws {
        let library = /\.library\(\s*name: "(\w+)",\s*targets: \[([^\]]*)\]/
        let manifest = try Self.text("Package.swift").matches(of: library)
        let products = manifest.map { String($0.1) }.sorted()
        let layers = try #require(manifest.first { $0.1 == "BluetoothLayers" }?.2.matches(of: /"(\w+)"/))
        #expect(try Self.firstColumn(below: "| product | |", in: "README.md") == products)
        let page = "Documentation/Installing.md"
        #expect(try Self.firstColumn(below: "| product | |", in: page) == products)
        let modules = try Self.firstColumn(below: "| module of `BluetoothLayers` | |", in: page)
        #expect(modules == layers.map { String($0.1) }.sorted())
    }

    /// The names in the first column of a table, sorted.
    private static func firstColumn(below head: String, in document: String) throws -> [String] {
        let text = try text(document)
        let start = try #require(text.range(of: head + "\n|---|---|\n")?.upperBound)
        let rows = text[start...].split(separator: "\n", omittingEmptySubsequences: false).prefix {
            $0.hasPrefix("|")
        }
        return rows.flatMap { row in row.split(separator: "|")[0].matches(of: /`(\w+)`/).map { String($0.1) } }.sorted()
    }

    @Test("Manifests and documents require the same version of Swift")
    func swiftVersion() throws {
        let tools = /swift-tools-version: ?(\d+\.\d+)/
        let version = try #require(try Self.text("Package.swift").firstMatch(of: tools)?.1)
        for path in [
            "Benchmarks", "Bus", "Bus/Fuzz", "Examples", "Fuzz", "Fuzz/Driver", "Gateway", "Gateway/Fuzz",
            "Migration", "Mutants", "Tests/Combine",
        ] {
            let other = try Self.text(path + "/Package.swift").firstMatch(of: tools)?.1
            #expect(other == version, "\(path)")
        }
        var count = 0
        for document in Self.documents + ["Gateway/README.md", "Benchmarks/README.md"] {
            let text = try Self.text(document)
            let named =
                text.matches(of: tools).map { $0.1 }
                + text.matches(of: /(?:with|needs|wherever|x86-64 and) Swift (\d+\.\d+)/).map { $0.1 }
            // What was tried and measured was built with the newer of the two supported versions.
            for other in named { #expect(other == version || other == "6.3", "\(document)") }
            count += named.count
        }
        #expect(count >= 6)
    }

    @Test("The page on the programs and the help of ble adapters state the exit status without an adapter")
    func statuses() throws {
        let page = try Self.text("Documentation/Commands.md")
        #expect(page.contains("exits with status \(ExitStatus.transportFailed.rawValue)"))
        let help = try HelpTests.help("ble adapters", columns: 1000)
        for status in [ExitStatus.notFound, .transportFailed] { #expect(help.contains("status \(status.rawValue) if")) }
    }
}
