import SwiftDiagnostics
import SwiftOperators
import SwiftParser
import SwiftParserDiagnostics
import SwiftSyntax

/// A source file and its tree.
struct ParsedFile {
    let path: String
    let text: String
    let octets: [UInt8]
    let tree: SourceFileSyntax
    let locations: SourceLocationConverter
    /// The first error of the parser, if the text is not valid Swift.
    let errors: [Finding]

    init(_ source: SourceText) {
        (path, text, octets) = (source.path, source.text, Array(source.text.utf8))
        let parsed = Parser.parse(source: source.text)
        // With `a = b as c` as a tree of its operators. Operators that are not known stay a sequence.
        tree =
            OperatorTable.standardOperators.foldAll(parsed, errorHandler: { _ in }).as(SourceFileSyntax.self) ?? parsed
        locations = SourceLocationConverter(fileName: source.path, tree: tree)
        errors = parsed.hasError ? Self.errors(source, parsed) : []
    }

    private static func errors(_ source: SourceText, _ tree: SourceFileSyntax) -> [Finding] {
        let locations = SourceLocationConverter(fileName: source.path, tree: tree)
        let first = ParseDiagnosticsGenerator.diagnostics(for: tree).first { $0.diagMessage.severity == .error }
        guard let first else { return [] }
        let place = first.location(converter: locations)
        return [
            Finding(
                file: source.path, line: place.line, column: place.column,
                reason: "this file is not valid Swift, and is kept as it is: \(first.message)")
        ]
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

/// The modules that a file imports where Linux compiles it.
final class ImportedModules: SyntaxVisitor {
    private(set) var modules: Set<String> = []

    init(_ file: ParsedFile) {
        super.init(viewMode: .sourceAccurate)
        walk(file.tree)
    }

    override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind {
        for elements in node.elementsOnLinux { walk(elements) }
        return .skipChildren
    }

    override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
        modules.insert(node.path.first?.name.text ?? "")
        return .skipChildren
    }
}

/// Whether a file declares where a program begins.
final class EntryPoints: SyntaxVisitor {
    private(set) var isFound = false

    init(_ file: ParsedFile) {
        super.init(viewMode: .sourceAccurate)
        walk(file.tree)
    }

    override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind {
        for elements in node.elementsOnLinux { walk(elements) }
        return .skipChildren
    }

    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind {
        if node.attributeName.trimmedDescription == "main" { isFound = true }
        return .skipChildren
    }
}

extension IfConfigDeclSyntax {
    /// The branches that Linux may compile.
    var elementsOnLinux: [IfConfigClauseSyntax.Elements] {
        var branches: [IfConfigClauseSyntax.Elements] = []
        for clause in clauses {
            let holds = clause.poundKeyword.tokenKind == .poundElse ? nil : holdsOnLinux(clause.condition)
            if holds != false, let elements = clause.elements { branches.append(elements) }
            // The rest is not compiled.
            if holds == true { break }
        }
        return branches
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

    /// Whether the nearest function or property around a node belongs to the type itself.
    var isInStaticMember: Bool {
        var node = parent
        while let current = node, current.typeName == nil {
            if let modifiers = current.asProtocol((any WithModifiersSyntax).self)?.modifiers,
                current.parent?.is(MemberBlockItemSyntax.self) == true
            {
                return modifiers.contains { ["static", "class"].contains($0.name.text) }
            }
            node = current.parent
        }
        return false
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
