import SwiftSyntax

/// Something that has to be changed by hand, or looked at.
public struct Finding: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// What happens if the place stays as it is.
    public enum Kind: Hashable, Sendable {
        /// It does not compile.
        case compilation
        /// It compiles, and may behave differently on Linux.
        case behavior
    }

    /// The path of the source file.
    public let file: String
    /// From one.
    public let line: Int
    /// From one, in octets of UTF-8.
    public let column: Int
    /// The obstacle, and the change to make.
    public let reason: String
    /// What happens if the place stays as it is.
    public let kind: Kind

    /// Creates a finding from its parts.
    public init(file: String, line: Int, column: Int, reason: String, kind: Kind = .compilation) {
        (self.file, self.line, self.column, self.reason, self.kind) = (file, line, column, reason, kind)
    }

    /// The finding in the format of a compiler's messages: `FILE:LINE:COLUMN: REASON`.
    public var description: String { "\(file):\(line):\(column): \(reason)" }

    /// Orders findings by file, line, column and reason.
    public static func < (lhs: Finding, rhs: Finding) -> Bool {
        (lhs.file, lhs.line, lhs.column, lhs.reason) < (rhs.file, rhs.line, rhs.column, rhs.reason)
    }
}

/// A source file.
public struct SourceText: Sendable {
    /// The path of the file. It appears in results and findings, and is not used to read the file.
    public let path: String
    /// The contents of the file.
    public let text: String

    /// Creates a source file from its path and its contents.
    public init(path: String, text: String) { (self.path, self.text) = (path, text) }
}

/// What became of a source file.
public struct AdaptedText: Sendable {
    /// The path of the file, as in its `SourceText`.
    public let path: String
    /// The contents before the adaptation.
    public let before: String
    /// The contents after the adaptation.
    public let after: String
    /// How many edits were made.
    public let edits: Int
    /// The places that have to be changed by hand, sorted and without duplicates.
    public let findings: [Finding]
    /// The first errors of the parser, if the file is not valid Swift. Such a file is not changed.
    public let unparsed: [Finding]

    init(path: String, before: String, after: String, edits: Int, findings: [Finding], unparsed: [Finding] = []) {
        (self.path, self.before, self.after, self.edits) = (path, before, after, edits)
        (self.findings, self.unparsed) = (findings, unparsed)
    }

    /// Creates the result for a source that needs no change.
    public init(unchanged source: SourceText) {
        self.init(path: source.path, before: source.text, after: source.text, edits: 0, findings: [])
    }
}

/// Rewrites sources that were written for Apple's platforms, so that they compile on Linux and still do there.
public enum Adaptation {
    /// Adapts files that belong together: what one declares counts for all. What is adapted already is left alone.
    public static func adapt(_ sources: [SourceText]) -> [AdaptedText] {
        let originals = sources.map(ParsedFile.init)
        let moved = Moves(originals.filter(\.errors.isEmpty), Facts(of: originals)).applied()
        let texts = Dictionary(moved.map { ($0.path, $0.text) }, uniquingKeysWith: { first, _ in first })
        let files = zip(sources, originals).map { source, original in
            guard let text = texts[source.path], text != source.text else { return original }
            return ParsedFile(SourceText(path: source.path, text: text))
        }
        let facts = Facts(of: files)
        return zip(originals, files).map { original, file in
            guard original.errors.isEmpty else {
                return AdaptedText(
                    path: file.path, before: file.text, after: file.text, edits: 0, findings: [],
                    unparsed: file.errors)
            }
            let adapter = Adapter(file, facts)
            adapter.walk(file.tree)
            adapter.finish()
            var after = adapter.edits.applied(to: file.text)
            // Lines end as they did.
            if original.text.contains("\r\n") {
                after = String(after.map { $0 == "\n" ? "\r\n" : $0 })
            }
            return AdaptedText(
                path: file.path, before: original.text, after: after,
                edits: adapter.edits.count + (original.text == file.text ? 0 : 1),
                findings: Array(Set(adapter.findings)).sorted())
        }
    }

    /// Whether a source declares where a program begins.
    public static func hasEntryPoint(_ source: SourceText) -> Bool { EntryPoints(ParsedFile(source)).isFound }

    /// Whether a source is compiled for tests only.
    public static func isTest(_ source: SourceText) -> Bool {
        let frameworks = ["XCTest", "Testing", "Quick", "Nimble"]
        return source.mentionsImport(of: frameworks)
            && !ImportedModules(ParsedFile(source)).modules.isDisjoint(with: frameworks)
    }
}
