import SwiftOperators
import SwiftParser
import SwiftSyntax

/// One source file, and what it becomes.
///
/// The body of a function with mutants becomes a `switch` with a copy of the body for each, so each mutant is compiled
/// as if it had been written by hand, and the code without it stays as it was.
struct SourceFile {
    let path: String
    let text: [UInt8]
    let bodies: [Body]
    let edits: [Edit]
    /// Where each line begins.
    private let lineStarts: [Int]

    init(path: String, text: String) {
        self.path = path
        self.text = Array(text.utf8)
        lineStarts =
            [0] + self.text.indices.filter { [text = self.text] in text[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
        let parsed = Parser.parse(source: text)
        let folded = OperatorTable.standardOperators.foldAll(parsed) { _ in }
        bodies = BodyFinder(folded).bodies
        edits = SiteFinder(folded).edits.filter { [bodies] edit in bodies.contains { $0.range.contains(edit.range) } }
    }

    func line(at offset: Int) -> Int { lineStarts.count { $0 <= offset } }

    func string(_ range: Range<Int>) -> String { String(decoding: text[range], as: UTF8.self) }

    /// Names an edit in the same way in each run.
    func key(of edit: Edit) -> String {
        let line = line(at: edit.range.lowerBound)
        let column = edit.range.lowerBound - lineStarts[line - 1] + 1
        let change = edit.replacement.prefix { $0 != "\n" }.prefix(20)
        return "\(path):\(line):\(column):\(edit.kind.rawValue):\(change)"
    }
}

/// An edit that was chosen, with the number that selects it.
struct Mutant {
    var id: Int
    var name: String?
    var edit: Edit
}

extension SourceFile {
    /// The file with all of these mutants in it, and what is where.
    func mutated(with mutants: [Mutant]) -> (text: String, entries: [Manifest.Entry]) {
        var output = "import CMutants\n"
        var entries: [Manifest.Entry] = []
        // The line that comes next.
        var line = 2
        var end = 0
        func write(_ part: String) {
            output += part
            line += part.utf8.count { $0 == UInt8(ascii: "\n") }
        }
        for body in bodies.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            let own = mutants.filter { body.range.contains($0.edit.range) }
            guard !own.isEmpty else { continue }
            write(string(end..<body.range.lowerBound))
            write("\nswitch bluetooth_mutant() {\n")
            let first = line
            let firstEntry = entries.count
            for mutant in own {
                write("case \(mutant.id):\n")
                let start = line
                write(variant(of: body, with: mutant.edit) + "\n")
                entries.append(entry(of: mutant, lines: [start, line - 1]))
            }
            write("default:\n" + variant(of: body, with: nil) + "\n}\n")
            // The brace that ends the function stands on the line after the next.
            for index in firstEntry..<entries.count { entries[index].body = [first, line + 1] }
            end = body.range.upperBound
        }
        write(string(end..<text.count))
        return (output, entries)
    }

    private func variant(of body: Body, with edit: Edit?) -> String {
        var code = string(body.range)
        if let edit {
            code =
                string(body.range.lowerBound..<edit.range.lowerBound) + edit.replacement
                + string(edit.range.upperBound..<body.range.upperBound)
        }
        return body.impliesReturn && edit?.kind != .earlyReturn ? "return " + code : code
    }

    private func entry(of mutant: Mutant, lines: [Int]) -> Manifest.Entry {
        Manifest.Entry(
            id: mutant.id, key: mutant.name ?? key(of: mutant.edit), name: mutant.name,
            kind: mutant.edit.kind.rawValue, file: path, line: line(at: mutant.edit.range.lowerBound),
            original: string(mutant.edit.range), replacement: mutant.edit.replacement, lines: lines, body: [])
    }
}

extension Range {
    func contains(_ other: Self) -> Bool {
        lowerBound <= other.lowerBound && other.upperBound <= upperBound
    }
}
