/// Changes to a text, by ranges of its octets.
struct Edits {
    private struct Edit {
        let range: Range<Int>
        let text: String
        /// Whether it is made in what Linux compiles only.
        let isForLinux: Bool
    }

    private var edits: [Edit] = []
    /// Statements of which there are two from then on.
    private var statements: Set<Range<Int>> = []

    var count: Int { edits.count }

    /// Replaces a range for all platforms.
    mutating func replace(_ range: Range<Int>, with text: String) {
        edits.append(Edit(range: range, text: text, isForLinux: false))
    }

    /// Replaces a range in a statement of which Apple's platforms keep the one they have.
    mutating func replace(_ range: Range<Int>, with text: String, onLinuxIn statement: Range<Int>) {
        edits.append(Edit(range: range, text: text, isForLinux: true))
        statements.insert(statement)
    }

    func applied(to text: String) -> String {
        guard !edits.isEmpty else { return text }
        let octets = Array(text.utf8)
        return render(0..<octets.count, octets, outermost(), forLinux: false)
    }

    /// Statements that are not within others of them.
    private func outermost() -> [Range<Int>] {
        statements.sorted { ($0.lowerBound, -$0.upperBound) < ($1.lowerBound, -$1.upperBound) }
            .reduce(into: []) { kept, range in
                if let last = kept.last, last.upperBound >= range.upperBound { return }
                kept.append(range)
            }
    }

    private func render(
        _ range: Range<Int>, _ octets: [UInt8], _ statements: [Range<Int>], forLinux: Bool
    ) -> String {
        var output = ""
        var position = range.lowerBound
        func copy(to end: Int) {
            if end > position { output += String(decoding: octets[position..<end], as: UTF8.self) }
            position = max(position, end)
        }
        let inside = edits.enumerated().filter { _, edit in
            range.contains(edit.range) && (forLinux || !edit.isForLinux)
                && !statements.contains { $0.contains(edit.range) }
        }
        .map { ($0.element.range, $0.offset) }
        let stops = (inside.map { ($0, Int?.some($1)) } + statements.filter(range.contains).map { ($0, nil) })
            .sorted { ($0.0.lowerBound, $0.0.upperBound) < ($1.0.lowerBound, $1.0.upperBound) }
        for (stop, edit) in stops where stop.lowerBound >= position {
            copy(to: stop.lowerBound)
            if let edit {
                output += edits[edit].text
                position = max(position, stop.upperBound)
            } else {
                let both = [false, true].map { render(stop, octets, [], forLinux: $0) }
                output = Self.conditional(output, both[0], both[1], octets[stop.upperBound...])
                position = stop.upperBound
                // The rest of the line moves to the next one, so the space before it goes.
                if !Self.endsLine(octets[position...]) {
                    while position < range.upperBound, isSpace(octets[position]) { position += 1 }
                }
            }
        }
        copy(to: range.upperBound)
        return output
    }

    private static func endsLine(_ rest: ArraySlice<UInt8>) -> Bool {
        rest.first { !isSpace($0) }.map { $0 == UInt8(ascii: "\n") } ?? true
    }

    /// A statement in two forms, on separate lines.
    private static func conditional(
        _ before: String, _ apple: String, _ linux: String, _ after: ArraySlice<UInt8>
    ) -> String {
        let line = before.split(separator: "\n", omittingEmptySubsequences: false).last ?? ""
        let indentation = String(line.prefix { $0 == " " || $0 == "\t" })
        let isAlone = line.allSatisfy { $0 == " " || $0 == "\t" }
        let trimmed = before.reversed().drop { $0 == " " || $0 == "\t" }.reversed()
        let start = isAlone ? before : String(trimmed) + "\n" + indentation
        return start
            + "#if canImport(ObjectiveC)\n\(indentation)\(apple)\n\(indentation)#else\n\(indentation)\(linux)\n"
            + "\(indentation)#endif" + (endsLine(after) ? "" : "\n" + indentation)
    }
}

extension Range<Int> {
    fileprivate func contains(_ other: Range<Int>) -> Bool {
        lowerBound <= other.lowerBound && other.upperBound <= upperBound
    }
}
