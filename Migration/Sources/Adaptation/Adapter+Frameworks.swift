import SwiftSyntax

extension Adapter {
    /// Puts a declaration or a statement that is about a framework that Linux has not got, such as one for what is seen
    /// on a screen, behind a condition. Then nothing within it has to be adapted.
    func hideIfMissing(_ node: some SyntaxProtocol) -> SyntaxVisitorContinueKind {
        guard imports.contains(where: Modules.isMissing), let module = framework(of: Syntax(node)) else {
            return .visitChildren
        }
        if let item = Syntax(node).as(CodeBlockItemSyntax.self), let reason = cannotLeaveOut(item) {
            find(node, reason)
            return .skipChildren
        }
        let line = Line(around: node.textRange, in: file.octets)
        wrap(
            node,
            before: (line.isFirst ? "" : "\n\(line.indentation)") + "#if canImport(\(module))\n\(line.indentation)",
            after: "\n\(line.indentation)#endif" + (line.isLast ? "" : "\n\(line.indentation)"))
        return .skipChildren
    }

    /// The framework that a declaration, or a statement, is about as a whole.
    private func framework(of node: Syntax) -> String? {
        if let item = node.as(CodeBlockItemSyntax.self) {
            // Declarations are looked at by themselves, as far as something of them may be kept.
            if item.item.is(DeclSyntax.self), item.item.as(VariableDeclSyntax.self) == nil,
                item.item.as(MacroExpansionDeclSyntax.self) == nil
            {
                return nil
            }
            if item.parent?.parent?.is(SourceFileSyntax.self) == true, item.item.is(VariableDeclSyntax.self) {
                return nil
            }
            // Of a statement with statements in it, those within are looked at.
            return mentioned(in: item, enteringBlocks: false)
        }
        if let type = node.asProtocol((any DeclGroupSyntax).self) {
            let inherited = type.inheritanceClause?.inheritedTypes.map { $0.type.trimmedDescription } ?? []
            let extended = node.as(ExtensionDeclSyntax.self).map { [$0.extendedType.trimmedDescription] } ?? []
            return (inherited + extended).lazy.compactMap(framework(ofType:)).first ?? mentioned(in: type.attributes)
        }
        if let function = node.as(FunctionDeclSyntax.self) {
            return mentioned(in: function.signature) ?? mentioned(in: function.attributes)
        }
        if let initializer = node.as(InitializerDeclSyntax.self) { return mentioned(in: initializer.signature) }
        if let variable = node.as(VariableDeclSyntax.self) {
            return variable.bindings.lazy.compactMap { binding in
                binding.typeAnnotation.flatMap { self.mentioned(in: $0) }
                    ?? binding.initializer.flatMap { self.mentioned(in: $0) }
            }
            .first ?? mentioned(in: variable.attributes)
        }
        return mentioned(in: node)
    }

    private func framework(ofType name: String) -> String? {
        Modules.frameworks(ofType: name).intersection(imports).sorted().first
    }

    private func mentioned(in attributes: AttributeListSyntax) -> String? {
        for attribute in attributes {
            guard let name = attribute.as(AttributeSyntax.self)?.attributeName.trimmedDescription else { continue }
            if let found = framework(ofType: name) { return found }
            if ["IBAction", "IBOutlet"].contains(name) {
                return imports.intersection(Modules.userInterface).sorted().first
            }
        }
        return nil
    }

    private func mentioned(in node: some SyntaxProtocol, enteringBlocks: Bool = true) -> String? {
        let search = FrameworkSearch(enteringBlocks: enteringBlocks, framework: framework(ofType:))
        search.walk(node)
        return search.found
    }

    /// Why a statement cannot simply be left out on Linux; nil if it can.
    private func cannotLeaveOut(_ item: CodeBlockItemSyntax) -> String? {
        switch item.item {
        case .decl:
            return "this value is of a framework that Linux has not got, and what uses it has to be left out with it"
        case .stmt(let statement):
            if statement.is(GuardStmtSyntax.self) || statement.is(ReturnStmtSyntax.self) {
                return "this statement asks a framework that Linux has not got: say what holds on Linux"
            }
            return nil
        case .expr: return nil
        }
    }
}

/// Looks for a type of a framework that is missing.
private final class FrameworkSearch: SyntaxVisitor {
    private(set) var found: String?
    private let enteringBlocks: Bool
    private let framework: (String) -> String?

    init(enteringBlocks: Bool, framework: @escaping (String) -> String?) {
        (self.enteringBlocks, self.framework) = (enteringBlocks, framework)
        super.init(viewMode: .sourceAccurate)
    }

    override func visit(_ node: CodeBlockSyntax) -> SyntaxVisitorContinueKind {
        enteringBlocks ? .visitChildren : .skipChildren
    }

    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind {
        enteringBlocks ? .visitChildren : .skipChildren
    }

    override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
        // What is behind a dot is somebody's own.
        let isMember = node.parent?.as(MemberAccessExprSyntax.self)?.declName.id == node.id
        if !isMember { look(node.baseName.text) }
        return .visitChildren
    }

    override func visit(_ node: IdentifierTypeSyntax) -> SyntaxVisitorContinueKind {
        look(node.name.text)
        return .visitChildren
    }

    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind {
        look(node.macroName.text)
        return .visitChildren
    }

    override func visit(_ node: MacroExpansionDeclSyntax) -> SyntaxVisitorContinueKind {
        look(node.macroName.text)
        return .visitChildren
    }

    private func look(_ name: String) { if found == nil { found = framework(name) } }
}
