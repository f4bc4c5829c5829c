import SwiftSyntax

/// Something that has to be changed by hand, or looked at.
public struct Finding: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let file: String
    /// From one.
    public let line: Int
    public let column: Int
    public let reason: String

    public var description: String { "\(file):\(line):\(column): \(reason)" }

    public static func < (lhs: Finding, rhs: Finding) -> Bool {
        (lhs.file, lhs.line, lhs.column, lhs.reason) < (rhs.file, rhs.line, rhs.column, rhs.reason)
    }
}

/// A source file.
public struct SourceText: Sendable {
    public let path: String
    public let text: String

    public init(path: String, text: String) { (self.path, self.text) = (path, text) }
}

/// What became of a source file.
public struct AdaptedText: Sendable {
    public let path: String
    public let before: String
    public let after: String
    /// How many edits were made.
    public let edits: Int
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
