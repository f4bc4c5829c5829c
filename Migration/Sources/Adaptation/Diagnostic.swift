/// An error that the compiler reports.
public struct Diagnostic: Hashable, Comparable, Sendable {
    /// The path of the source file.
    public let file: String
    /// The line, from one.
    public let line: Int
    /// The column, from one, in octets of UTF-8.
    public let column: Int
    /// The compiler's text.
    public let message: String

    /// Creates an error from its parts.
    public init(file: String, line: Int, column: Int, message: String) {
        (self.file, self.line, self.column, self.message) = (file, line, column, message)
    }

    /// The errors in a compiler's output, sorted and without duplicates.
    public static func errors(in output: String) -> [Diagnostic] {
        var found: Set<Diagnostic> = []
        for line in output.split(whereSeparator: \.isNewline) {
            guard let match = line.wholeMatch(of: /(\/.*?\.swift):([0-9]+):([0-9]+): error: (.*)/),
                let row = Int(match.2), let column = Int(match.3)
            else { continue }
            found.insert(
                Diagnostic(file: String(match.1), line: row, column: column, message: withoutGroup(match.4)))
        }
        return found.sorted()
    }

    /// The text without the name of its group, as in `[#DeprecatedDeclaration]`.
    private static func withoutGroup(_ text: Substring) -> String {
        guard let match = text.firstMatch(of: /\ \[#[A-Za-z]+\]$/) else { return String(text) }
        return String(text[..<match.range.lowerBound])
    }

    /// Whether the error is one of those that only Swift 6 mode reports.
    public var isAboutConcurrency: Bool {
        ["data races", "Sendable", "concurrency-safe", "-isolated"].contains(where: message.contains)
    }

    /// Orders errors by file, line, column and text.
    public static func < (lhs: Diagnostic, rhs: Diagnostic) -> Bool {
        (lhs.file, lhs.line, lhs.column, lhs.message) < (rhs.file, rhs.line, rhs.column, rhs.message)
    }
}
