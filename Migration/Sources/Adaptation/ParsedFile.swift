import SwiftOperators
import SwiftParser
import SwiftSyntax

/// A source file and its tree.
struct ParsedFile {
    let path: String
    let text: String
    let octets: [UInt8]
    let tree: SourceFileSyntax
    let locations: SourceLocationConverter

    init(_ source: SourceText) {
        (path, text, octets) = (source.path, source.text, Array(source.text.utf8))
        let parsed = Parser.parse(source: source.text)
        // With `a = b as c` as a tree of its operators. Operators that are not known stay a sequence.
        tree =
            OperatorTable.standardOperators.foldAll(parsed, errorHandler: { _ in }).as(SourceFileSyntax.self) ?? parsed
        locations = SourceLocationConverter(fileName: source.path, tree: tree)
    }
}

extension SyntaxProtocol {
    /// Where its text begins and ends in the file, in octets, without what is around it.
    var textRange: Range<Int> {
        let start = positionAfterSkippingLeadingTrivia.utf8Offset
        return start..<max(start, endPositionBeforeTrailingTrivia.utf8Offset)
    }

    /// The nearest node around this one that is of a type.
    func ancestor<Node: SyntaxProtocol>(_ type: Node.Type) -> Node? {
        var node = parent
        while let current = node {
            if let found = current.as(type) { return found }
            node = current.parent
        }
        return nil
    }

    /// The statement this is in, or is: what can be put between `#if` and `#endif`.
    var statement: CodeBlockItemSyntax? {
        Syntax(self).as(CodeBlockItemSyntax.self) ?? ancestor(CodeBlockItemSyntax.self)
    }
}

/// The name a type is declared under, for types and their extensions.
extension Syntax {
    var typeName: String? {
        if let node = self.as(ClassDeclSyntax.self) { return node.name.text }
        if let node = self.as(StructDeclSyntax.self) { return node.name.text }
        if let node = self.as(EnumDeclSyntax.self) { return node.name.text }
        if let node = self.as(ActorDeclSyntax.self) { return node.name.text }
        if let node = self.as(ProtocolDeclSyntax.self) { return node.name.text }
        if let node = self.as(ExtensionDeclSyntax.self) { return node.extendedType.trimmedDescription }
        return nil
    }

    /// The type around a node.
    var enclosingType: String? {
        var node = parent
        while let current = node {
            if let name = current.typeName { return name }
            node = current.parent
        }
        return nil
    }
}

/// Where something stands on its line.
struct Line {
    /// The spaces the line begins with.
    let indentation: String
    /// Whether nothing stands before it, or behind it.
    let isFirst: Bool
    let isLast: Bool
    /// Without the spaces around it. They are kept at the ends of a line.
    let start: Int
    let end: Int

    init(around range: Range<Int>, in octets: [UInt8]) {
        let first = octets[..<range.lowerBound].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let before = octets[first..<range.lowerBound]
        indentation = String(decoding: before.prefix(while: isSpace), as: UTF8.self)
        start = before.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? first
        isFirst = start == first
        let next = octets[range.upperBound...].firstIndex { !isSpace($0) } ?? octets.count
        isLast = next == octets.count || octets[next] == UInt8(ascii: "\n")
        end = isLast ? range.upperBound : next
    }
}

/// Whether an octet is a space within a line, or the one that precedes a line feed in files of another system.
func isSpace(_ octet: UInt8) -> Bool { [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r")].contains(octet) }
