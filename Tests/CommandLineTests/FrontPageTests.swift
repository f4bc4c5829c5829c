import Foundation
import Testing

/// The claims of the README that can become false: counts, versions, and what it links to.
struct FrontPageTests {
    static func text(_ path: String) throws -> String { try DocumentTests.text(path) }

    /// The number of lines of a file that match.
    static func count(of lines: Regex<Substring>, in path: String) throws -> Int {
        try text(path).split(separator: "\n").count { $0.firstMatch(of: lines) != nil }
    }

    /// The numbers that a pattern captures in the README.
    static func claimed<Output>(_ pattern: Regex<Output>) throws -> [Int] {
        let match = try #require(try text("README.md").firstMatch(of: pattern))
        return AnyRegexOutput(match).dropFirst().compactMap { group in
            group.substring.flatMap { Int($0.replacing(",", with: "")) }
        }
    }

    @Test
    func `the README has fewer than 900 words`() throws {
        #expect(try Self.text("README.md").split(whereSeparator: \.isWhitespace).count < 900)
    }

    @Test
    func `the number of Core Bluetooth symbols is that of the list`() throws {
        let symbols = try Self.count(of: /^[^#]/, in: "Tests/CoreBluetoothTests/Symbols/symbols.txt")
        #expect(try Self.claimed(/All (\d+) symbols/) == [symbols])
    }

    @Test
    func `the number of qualification test cases is the sum of the table in Conformance.md`() throws {
        let rows = try Self.text("Documentation/Conformance.md")
            .matches(of: /\| \*\*\S+\*\* \| (\d+) \| (\d+) \| \d+ \| \d+ \|/)
        let cases = rows.compactMap { Int($0.1) }.reduce(0, +), tested = rows.compactMap { Int($0.2) }.reduce(0, +)
        #expect(rows.count == 5)
        #expect(try Self.claimed(/(\d+) of (\d+) qualification test cases/) == [tested, cases])
    }

    @Test
    func `the number of worlds is what continuous integration simulates`() throws {
        let last = try #require(try Self.text(".ci/run").firstMatch(of: /simulate --seeds 0\.\.(\d+)/)?.1)
        #expect(try Self.claimed(/([\d,]+) random worlds in each CI run/) == [try #require(Int(last)) + 1])
    }

    @Test
    func `the number of deliberate bugs is that of the named mutants`() throws {
        let mutants = try Self.count(of: /^\[\[mutant\]\]$/, in: "Mutants/named.toml")
        #expect(try Self.claimed(/(\d+) deliberate bugs/) == [mutants])
    }

    @Test
    func `the cost of a notification is that of the table in Benchmarks`() throws {
        let row = try #require(
            try Self.text("Benchmarks/README.md")
                .firstMatch(of: /\| notification received, 20 B \| (\d+) \| \d+ \| \d+ \| 0\.0 \|/))
        #expect(try Self.claimed(/(\d+) instructions and no allocation/) == [try #require(Int(row.1))])
    }

    @Test
    func `the stacks that the package is tested against have the versions that are installed for it`() throws {
        let page = try Self.text("Documentation/Installing.md").replacing("\n", with: " ")
        let requirements = try Self.text("Scripts/python/requirements.txt")
        for (name, package) in [("Bumble", "bumble"), ("RootCanal", "rootcanal")] {
            let stated = try #require(page.firstMatch(of: try Regex("\(name) ([0-9.]*[0-9])"))?[1].substring)
            #expect(requirements.contains("\n\(package)==\(stated)"), "\(name) \(stated)")
        }
    }

    @Test
    func `the options of ble-bus exist`() throws {
        let declared = DocumentTests.declaredOptions(in: try DocumentTests.sources(below: "Bus/Sources/ble-bus"))
        #expect(declared.contains("--btsnoop"))
        for code in DocumentTests.code(in: try Self.text("README.md")) {
            guard let match = code.firstMatch(of: /(?:^|\s)ble-bus (.*)$/) else { continue }
            for option in DocumentTests.options(in: " " + match.1) {
                #expect(declared.contains(option), "ble-bus has no \(option): \(code)")
            }
        }
    }

    @Test
    func `the picture of the class shows the class of the README`() throws {
        let block = /<!-- snippet: finder Finder.swift -->\n```swift\n([\s\S]*?)```/
        let code = try #require(try Self.text("README.md").firstMatch(of: block)?.1)
        let picture = try Self.text("Documentation/Casts/ios.svg")
        for word in Set(code.matches(of: /\w+/).map { String($0.0) }) {
            #expect(picture.contains(word), "run Scripts/casts: the picture lacks \(word)")
        }
    }

    @Test
    func `the pictures exist, and scripts that the README calls`() throws {
        let text = try Self.text("README.md")
        let pictures = text.matches(of: /<img src="([^"]+)"/).map { String($0.1) }
        let scripts = text.matches(of: /(?m)^    (Scripts\/\w+)/).map { String($0.1) }
        #expect(pictures.count == 2 && scripts.count == 3)
        for path in pictures + scripts {
            #expect(FileManager.default.fileExists(atPath: DocumentTests.root.appending(path: path).path), "\(path)")
        }
    }
}
