import SwiftSyntax

/// Something that has to be changed by hand, or looked at.
public struct Finding: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The path of the source file.
    public let file: String
    /// From one.
    public let line: Int
    /// From one, in octets of UTF-8.
    public let column: Int
    /// The obstacle, and the change to make.
    public let reason: String

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
}

/// Rewrites sources that were written for Apple's platforms, so that they compile on Linux and still do there.
public enum Adaptation {
    /// Adapts files that belong together: what one declares counts for all. What is adapted already is left alone.
    public static func adapt(_ sources: [SourceText]) -> [AdaptedText] {
        let files = sources.map(ParsedFile.init)
        let facts = Facts(of: files)
        return files.map { file in
            let adapter = Adapter(file, facts)
            adapter.walk(file.tree)
            adapter.finish()
            var after = adapter.edits.applied(to: file.text)
            // Lines end as they did.
            if file.text.contains("\r\n") {
                after = String(after.map { $0 == "\n" ? "\r\n" : $0 })
            }
            return AdaptedText(
                path: file.path, before: file.text, after: after,
                edits: adapter.edits.count, findings: Array(Set(adapter.findings)).sorted())
        }
    }
}
