import ArgumentParser

/// The parts of a help text that all commands share.
public enum HelpText {
    /// The heading of the examples.
    static let examples = "EXAMPLES:"
    /// The heading of the table of exit statuses.
    static let statuses = "EXIT STATUS:"

    /// The discussion of a command: general information, examples, and the table of exit statuses.
    ///
    /// - Parameters:
    ///   - text: paragraphs, wrapped by the parser.
    ///   - examples: complete command lines, each at most 78 columns wide. A line that begins with `#` explains the
    ///     next.
    public static func discussion(_ text: String, examples: [String]) -> String {
        var parts = text.isEmpty ? [] : [text]
        if !examples.isEmpty { parts.append(section(self.examples, examples)) }
        parts.append(section(statuses, ExitStatus.allCases.map { "\($0.rawValue)  \($0.meaning)" }))
        return parts.joined(separator: "\n\n")
    }

    private static func section(_ title: String, _ lines: [String]) -> String {
        ([title] + lines.map { "  " + $0 }).joined(separator: "\n")
    }

    /// Wraps the usage in a help text, which the parser leaves on one line.
    static func wrapped(_ help: String, columns: Int) -> String {
        help.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.hasPrefix(usage) ? wrapped(usage: line.dropFirst(usage.count), columns: columns) : String(line)
        }.joined(separator: "\n")
    }

    /// The long options that a help text lists, such as `--timeout`.
    static func options(in help: String) -> [String] {
        help.split(separator: "\n").filter { $0.hasPrefix("  -") }.flatMap { line in
            line.split { $0 == " " || $0 == "/" || $0 == "," }.prefix { $0.hasPrefix("-") }.filter {
                $0.hasPrefix("--")
            }
        }.map(String.init)
    }

    /// A message of the parser on one line. A list becomes a sentence.
    static func oneLine(_ message: String) -> String {
        let lines = message.split(separator: "\n")
        let items = lines.filter { $0.hasPrefix("  - ") }.map { $0.dropFirst(4) }
        let others = lines.filter { !$0.hasPrefix("  - ") }.joined(separator: " ")
        return items.isEmpty ? others : others + " " + items.joined(separator: ", ")
    }

    private static let usage = "USAGE: "

    /// Breaks the line between arguments, and never within brackets.
    private static func wrapped(usage: Substring, columns: Int) -> String {
        var items: [String] = [], depth = 0
        for word in usage.split(separator: " ") {
            if depth > 0, let last = items.popLast() {
                items.append(last + " " + word)
            } else {
                items.append(String(word))
            }
            depth += word.count { $0 == "[" } - word.count { $0 == "]" }
        }
        let indentation = String(repeating: " ", count: self.usage.count)
        var lines: [String] = [], line = self.usage.trimmingEnd
        for item in items {
            if line.count + 1 + item.count > columns, line.count > indentation.count {
                lines.append(line)
                line = indentation + item
            } else {
                line += (line == indentation ? "" : " ") + item
            }
        }
        return (lines + [line]).joined(separator: "\n")
    }
}

extension String {
    fileprivate var trimmingEnd: String {
        var rest = self[...]
        while rest.last == " " { rest.removeLast() }
        return String(rest)
    }
}

extension ParsableCommand {
    /// The help of this command or one of its subcommands, formatted for the given number of columns.
    public static func help(for command: any ParsableCommand.Type, columns: Int) -> String {
        HelpText.wrapped(helpMessage(for: command, columns: columns), columns: columns)
    }
}
