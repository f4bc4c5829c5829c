import SwiftSyntax

/// Moves members from extensions into their classes. On Linux, only what a class itself declares can be overridden,
/// and only there can it override.
struct Moves {
    private struct Member: Hashable {
        let type: String
        let name: String
    }

    private let files: [ParsedFile]
    /// The members to move, in the order of the files.
    private var members: Set<Member> = []
    private let classes: Set<String>

    init(_ files: [ParsedFile], _ facts: Facts) {
        self.files = files
        classes = Set(facts.isClass.filter(\.value).keys)
        let collector = Collector(viewMode: .sourceAccurate)
        for file in files { collector.walk(file.tree) }
        for (member, isOverride) in collector.inExtensions where classes.contains(member.type) {
            // What overrides, and what is overridden.
            let isOverridden = collector.overrides.contains { override in
                override.name == member.name
                    && Self.superclasses(of: override.type, facts).contains(member.type)
            }
            let isTrap = facts.traps.contains(Facts.Trap(type: member.type, method: member.name))
            if isOverride || isOverridden || isTrap { members.insert(member) }
        }
    }

    /// The sources with the members in their classes.
    func applied() -> [SourceText] {
        guard !members.isEmpty else { return files.map { SourceText(path: $0.path, text: $0.text) } }
        var (edits, texts): ([Edits], [String: [String]]) = (files.map { _ in Edits() }, [:])
        for (index, file) in files.enumerated() {
            let cutter = Cutter(file, members)
            cutter.walk(file.tree)
            for range in cutter.cut { edits[index].replace(range, with: "") }
            for (type, text) in cutter.texts { texts[type, default: []].append(text) }
        }
        for (index, file) in files.enumerated() {
            let finder = ClassFinder(viewMode: .sourceAccurate)
            finder.walk(file.tree)
            for node in finder.classes {
                guard let moved = texts.removeValue(forKey: node.name.text) else { continue }
                let end = node.memberBlock.rightBrace.textRange.lowerBound
                edits[index].replace(end..<end, with: moved.joined() + "\n")
            }
        }
        return zip(files, edits).map { SourceText(path: $0.path, text: $1.applied(to: $0.text)) }
    }

    private static func superclasses(of type: String, _ facts: Facts) -> [String] {
        var (found, current): ([String], String) = ([], type)
        while found.count < 32, let next = facts.classes[current]?.inherits.first(where: { facts.isClass[$0] == true })
        {
            found.append(next)
            current = next
        }
        return found
    }

    /// The name of a member that can be overridden.
    private static func name(_ member: DeclSyntax) -> String? {
        if let function = member.as(FunctionDeclSyntax.self) { return Facts.fullName(function) }
        return member.as(VariableDeclSyntax.self)?.bindings.first?.pattern.trimmedDescription
    }

    private final class Collector: SyntaxVisitor {
        private(set) var inExtensions: [(Member, isOverride: Bool)] = []
        private(set) var overrides: [Member] = []

        override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind {
            for elements in node.elementsOnLinux { walk(elements) }
            return .skipChildren
        }

        override func visit(_ node: MemberBlockItemSyntax) -> SyntaxVisitorContinueKind {
            guard let type = Syntax(node).enclosingType, let name = Moves.name(node.decl),
                let modifiers = node.decl.asProtocol((any WithModifiersSyntax).self)?.modifiers
            else { return .visitChildren }
            let member = Member(type: type, name: name)
            let isOverride = modifiers.contains { $0.name.tokenKind == .keyword(.override) }
            if isOverride { overrides.append(member) }
            if node.parent?.parent?.parent?.is(ExtensionDeclSyntax.self) == true {
                inExtensions.append((member, isOverride))
            }
            return .visitChildren
        }
    }

    private final class ClassFinder: SyntaxVisitor {
        private(set) var classes: [ClassDeclSyntax] = []

        override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind {
            for elements in node.elementsOnLinux { walk(elements) }
            return .skipChildren
        }

        override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
            classes.append(node)
            return .visitChildren
        }
    }

    /// Takes members out of extensions.
    private final class Cutter: SyntaxVisitor {
        private(set) var cut: [Range<Int>] = []
        private(set) var texts: [(String, String)] = []
        private let file: ParsedFile
        private let members: Set<Member>

        init(_ file: ParsedFile, _ members: Set<Member>) {
            (self.file, self.members) = (file, members)
            super.init(viewMode: .sourceAccurate)
        }

        override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind {
            for elements in node.elementsOnLinux { walk(elements) }
            return .skipChildren
        }

        override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
            let type = node.extendedType.trimmedDescription
            let access = node.modifiers.first {
                ["public", "package", "fileprivate", "private"].contains($0.name.text)
            }
            for item in node.memberBlock.members {
                guard let name = Moves.name(item.decl), members.contains(Member(type: type, name: name)),
                    let own = item.decl.asProtocol((any WithModifiersSyntax).self)?.modifiers
                else { continue }
                // With the comments before it.
                let range = item.position.utf8Offset..<item.endPosition.utf8Offset
                var text = String(decoding: file.octets[range], as: UTF8.self)
                if let access, !own.contains(where: { accessLevels.contains($0.name.text) }) {
                    let start = (own.first?.positionAfterSkippingLeadingTrivia ?? keyword(item.decl)).utf8Offset
                    let offset = text.utf8.index(text.startIndex, offsetBy: start - range.lowerBound)
                    text.insert(contentsOf: access.name.text + " ", at: offset)
                }
                cut.append(range)
                texts.append((type, text))
            }
            return .visitChildren
        }

        private let accessLevels: Set<String> = ["open", "public", "package", "internal", "fileprivate", "private"]

        private func keyword(_ declaration: DeclSyntax) -> AbsolutePosition {
            declaration.as(FunctionDeclSyntax.self)?.funcKeyword.positionAfterSkippingLeadingTrivia
                ?? declaration.as(VariableDeclSyntax.self)?.bindingSpecifier.positionAfterSkippingLeadingTrivia
                ?? declaration.positionAfterSkippingLeadingTrivia
        }
    }
}
