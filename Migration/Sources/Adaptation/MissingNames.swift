import SwiftSyntax

/// What a file cannot name on Linux: types of frameworks that Linux lacks, and what the sources declare only where
/// Linux does not compile.
struct MissingNames {
    let facts: Facts
    /// The modules that the file imports, under any condition.
    let imports: Set<String>

    private var importsMissingModule: Bool { imports.contains(where: Modules.isMissing) }

    /// The condition under which a declaration, or a statement, compiles that mentions a missing name as a whole.
    func condition(of node: Syntax) -> String? {
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
            var inherited = type.inheritanceClause?.inheritedTypes.map { $0.type.trimmedDescription } ?? []
            // The module CoreBluetooth has this protocol for others to inherit.
            if node.is(ProtocolDeclSyntax.self) { inherited.removeAll { $0 == "UIApplicationDelegate" } }
            let extended = node.as(ExtensionDeclSyntax.self).map { [$0.extendedType.trimmedDescription] } ?? []
            return (inherited + extended).lazy.compactMap(condition(ofType:)).first ?? mentioned(in: type.attributes)
        }
        if let function = node.as(FunctionDeclSyntax.self) {
            return mentioned(in: function.signature) ?? mentioned(in: function.attributes)
        }
        if let initializer = node.as(InitializerDeclSyntax.self) { return mentioned(in: initializer.signature) }
        if let alias = node.as(TypeAliasDeclSyntax.self) { return mentioned(in: alias.initializer) }
        if let subscripted = node.as(SubscriptDeclSyntax.self) {
            return mentioned(in: subscripted.parameterClause) ?? mentioned(in: subscripted.returnClause)
        }
        if let variable = node.as(VariableDeclSyntax.self) {
            return variable.bindings.lazy.compactMap { binding in
                binding.typeAnnotation.flatMap { self.mentioned(in: $0) }
                    ?? binding.initializer.flatMap { self.mentioned(in: $0) }
            }
            .first ?? mentioned(in: variable.attributes)
        }
        if let enumCase = node.as(EnumCaseDeclSyntax.self) { return mentioned(in: enumCase.elements) }
        return mentioned(in: node)
    }

    /// The condition under which a type exists.
    func condition(ofType name: String) -> String? {
        if let condition = facts.hiddenTypes[name] { return condition }
        if Modules.absentTypes.contains(name) { return "canImport(ObjectiveC)" }
        guard importsMissingModule, !facts.declaredTypes.contains(name) else { return nil }
        return Modules.frameworks(ofType: name).intersection(imports).min().map { "canImport(\($0))" }
    }

    private func condition(ofMember name: String, in type: String?) -> String? {
        guard let type else { return facts.hiddenMembers[""]?[name] }
        return facts.hiddenMembers[type]?[name] ?? facts.hiddenMembers[""]?[name]
    }

    private func mentioned(in attributes: AttributeListSyntax) -> String? {
        for attribute in attributes {
            guard let name = attribute.as(AttributeSyntax.self)?.attributeName.trimmedDescription else { continue }
            if let found = condition(ofType: name) { return found }
            if ["IBAction", "IBOutlet"].contains(name) {
                return imports.intersection(Modules.userInterface).min().map { "canImport(\($0))" }
            }
        }
        return nil
    }

    /// - Parameter replaced: ranges that are not looked at.
    func mentioned(
        in node: some SyntaxProtocol, enteringBlocks: Bool = true, but replaced: [Range<Int>] = []
    ) -> String? {
        let type = Syntax(node).enclosingType
        let search = NameSearch(
            enteringBlocks: enteringBlocks, replaced: replaced, type: condition(ofType:),
            member: { condition(ofMember: $0, in: type) })
        search.walk(node)
        return search.found
    }
}

/// Looks for a name that is missing.
private final class NameSearch: SyntaxVisitor {
    private(set) var found: String?
    private let enteringBlocks: Bool
    private let type: (String) -> String?
    private let member: (String) -> String?

    private let replaced: [Range<Int>]

    init(
        enteringBlocks: Bool, replaced: [Range<Int>], type: @escaping (String) -> String?,
        member: @escaping (String) -> String?
    ) {
        (self.enteringBlocks, self.replaced, self.type, self.member) = (enteringBlocks, replaced, type, member)
        super.init(viewMode: .sourceAccurate)
    }

    override func visit(_ node: CodeBlockSyntax) -> SyntaxVisitorContinueKind {
        enteringBlocks ? .visitChildren : .skipChildren
    }

    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind {
        enteringBlocks ? .visitChildren : .skipChildren
    }

    override func visit(_ node: SwitchCaseListSyntax) -> SyntaxVisitorContinueKind {
        enteringBlocks ? .visitChildren : .skipChildren
    }

    override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
        let (name, range) = (node.baseName.text, node.textRange)
        guard !replaced.contains(where: { $0.contains(range.lowerBound) }) else { return .visitChildren }
        let access = node.parent?.as(MemberAccessExprSyntax.self)
        if let access, access.declName.id == node.id {
            // What is behind a dot is somebody's own, but for `self.name`.
            if ["self", "self?", "Self"].contains(access.base?.trimmedDescription) { look(member(name)) }
        } else {
            // `UIApplication.LaunchOptionsKey` exists on Linux, for state restoration.
            let isLaunchOption = name == "UIApplication" && access?.declName.baseName.text == "LaunchOptionsKey"
            if !isLaunchOption { look(type(name) ?? member(name)) }
        }
        return .visitChildren
    }

    override func visit(_ node: IdentifierTypeSyntax) -> SyntaxVisitorContinueKind {
        let member = node.parent?.as(MemberTypeSyntax.self)?.name.text
        if !(node.name.text == "UIApplication" && member == "LaunchOptionsKey") { look(type(node.name.text)) }
        return .visitChildren
    }

    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind {
        look(type(node.macroName.text))
        return .visitChildren
    }

    override func visit(_ node: MacroExpansionDeclSyntax) -> SyntaxVisitorContinueKind {
        look(type(node.macroName.text))
        return .visitChildren
    }

    private func look(_ condition: String?) { if found == nil { found = condition } }
}

/// Collects the names that sources declare only where Linux does not compile.
final class HiddenNames: SyntaxVisitor {
    private(set) var types: [String: String] = [:]
    /// By type; those at the top of files by the empty name.
    private(set) var members: [String: [String: String]] = [:]
    private var visibleTypes: Set<String> = []
    private var visibleMembers: [String: Set<String>] = [:]
    private var names: MissingNames
    /// The condition around what is visited; nil where Linux compiles.
    private var condition: String?

    private init(_ facts: Facts) {
        names = MissingNames(facts: facts, imports: [])
        super.init(viewMode: .sourceAccurate)
    }

    /// Follows the uses of hidden names: what is declared with them is hidden as well.
    static func add(to facts: inout Facts, _ files: [ParsedFile]) {
        // Each round follows one more step.
        for _ in 0..<8 {
            let collector = HiddenNames(facts)
            for file in files {
                collector.names = MissingNames(facts: facts, imports: AllImports(file).modules)
                collector.walk(file.tree)
            }
            let types = collector.types.filter { !collector.visibleTypes.contains($0.key) }
            let members = collector.members.reduce(into: [String: [String: String]]()) { result, entry in
                let visible = collector.visibleMembers[entry.key] ?? []
                let hidden = entry.value.filter { !visible.contains($0.key) }
                if !hidden.isEmpty { result[entry.key] = hidden }
            }
            if types == facts.hiddenTypes, members == facts.hiddenMembers { return }
            (facts.hiddenTypes, facts.hiddenMembers) = (types, members)
        }
    }

    override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind {
        let outer = condition
        var isDecided = false
        for clause in node.clauses {
            let isElse = clause.poundKeyword.tokenKind == .poundElse
            let holds = isDecided ? false : isElse ? nil : holdsOnLinux(clause.condition)
            if holds == false, outer == nil {
                condition = Self.text(of: clause, in: node)
            }
            if let elements = clause.elements { walk(elements) }
            condition = outer
            if holds == true { isDecided = true }
        }
        return .skipChildren
    }

    /// The condition of a branch that Linux does not compile.
    private static func text(of clause: IfConfigClauseSyntax, in node: IfConfigDeclSyntax) -> String {
        let text = clause.condition?.trimmedDescription ?? "canImport(ObjectiveC)"
        // Branches after the first hold where the ones before do not. All of them are about Apple's platforms.
        return clause.id == node.clauses.first?.id ? text : "canImport(ObjectiveC)"
    }

    private func note(type name: String, _ node: some SyntaxProtocol) -> SyntaxVisitorContinueKind {
        if let condition = condition ?? names.condition(of: Syntax(node)) {
            types[name] = condition
            // What is within is hidden with it.
            return .skipChildren
        }
        visibleTypes.insert(name)
        return .visitChildren
    }

    private func note(members declared: [String], _ node: some SyntaxProtocol) {
        let type = Syntax(node).enclosingType ?? ""
        for name in declared {
            if let condition = condition ?? names.condition(of: Syntax(node)) {
                members[type, default: [:]][name] = condition
            } else {
                visibleMembers[type, default: []].insert(name)
            }
        }
    }

    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind { note(type: node.name.text, node) }
    override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind { note(type: node.name.text, node) }
    override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind { note(type: node.name.text, node) }
    override func visit(_ node: ActorDeclSyntax) -> SyntaxVisitorContinueKind { note(type: node.name.text, node) }
    override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind { note(type: node.name.text, node) }
    override func visit(_ node: TypeAliasDeclSyntax) -> SyntaxVisitorContinueKind { note(type: node.name.text, node) }

    override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
        names.condition(of: Syntax(node)) == nil ? .visitChildren : .skipChildren
    }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        note(members: [node.name.text], node)
        return .skipChildren
    }

    override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
        note(members: DeclSyntax(node).declaredNames, node)
        return .skipChildren
    }

    override func visit(_ node: EnumCaseDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: CodeBlockSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
}

/// The modules that a file imports, under any condition.
final class AllImports: SyntaxVisitor {
    private(set) var modules: Set<String> = []

    init(_ file: ParsedFile) {
        super.init(viewMode: .sourceAccurate)
        walk(file.tree)
    }

    override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
        modules.insert(node.path.first?.name.text ?? "")
        return .skipChildren
    }
}
