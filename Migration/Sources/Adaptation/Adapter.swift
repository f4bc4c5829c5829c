import SwiftSyntax

/// Collects the edits of a file, and what has to be done by hand. What Linux does not compile is left alone.
final class Adapter: SyntaxVisitor {
    let file: ParsedFile
    let facts: Facts
    var edits = Edits()
    var findings: [Finding] = []
    var imports: Set<String> = [] {
        didSet { missing = MissingNames(facts: facts, imports: imports) }
    }
    var missing: MissingNames
    var declaresAutoreleasepool = false
    var needsAutoreleasepool = false
    /// Modules that the file uses, whether it imports them or not.
    var neededModules: Set<String> = []
    /// Names of CommonCrypto that swift-crypto replaces.
    var commonCrypto: Set<String> = []
    /// Where what is behind a new condition ends.
    var hiddenUntil = 0
    /// Conformances that Linux needs, which are written at the end of the file.
    var conformances: [String] = []
    /// Functions whose selector was rewritten: `@objc` is not needed any more.
    var freed: Set<String> = []

    init(_ file: ParsedFile, _ facts: Facts) {
        (self.file, self.facts) = (file, facts)
        missing = MissingNames(facts: facts, imports: [])
        super.init(viewMode: .sourceAccurate)
        let selectors = SelectorUse(file)
        freed = selectors.rewritable
        imports = selectors.imports
        missing = MissingNames(facts: facts, imports: imports)
    }

    func find(_ node: some SyntaxProtocol, _ reason: String, kind: Finding.Kind = .compilation) {
        let place = node.startLocation(converter: file.locations)
        findings.append(
            Finding(file: file.path, line: place.line, column: place.column, reason: reason, kind: kind))
    }

    /// What can only be done at the end.
    func finish() {
        addImports()
        var parts: [String] = []
        if needsAutoreleasepool, !declaresAutoreleasepool { parts.append(Self.autoreleasepool) }
        if !commonCrypto.isEmpty { parts.append(CommonCrypto.declarations(for: commonCrypto)) }
        if !conformances.isEmpty {
            parts.append("#if !canImport(ObjectiveC)\n\(conformances.joined(separator: "\n"))\n#endif\n")
        }
        guard !parts.isEmpty else { return }
        let end = file.text.utf8.count
        let separator = file.text.utf8.last == UInt8(ascii: "\n") ? "\n" : "\n\n"
        edits.replace(end..<end, with: separator + parts.joined(separator: "\n"))
    }

    private static let autoreleasepool = """
        #if !canImport(ObjectiveC)
        private func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }
        #endif

        """

    // MARK: What is visited

    override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind {
        adaptChain(node)
        for elements in node.elementsOnLinux { walk(elements) }
        return .skipChildren
    }

    override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
        adapt(node)
        return .skipChildren
    }

    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind {
        adapt(node)
        return .skipChildren
    }

    override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
        guard hideIfMissing(node) == .visitChildren else { return .skipChildren }
        adapt(node)
        return .visitChildren
    }

    override func visit(_ node: MemberTypeSyntax) -> SyntaxVisitorContinueKind {
        if node.name.text == "LaunchOptionsKey", node.baseType.trimmedDescription == "UIApplication" {
            need("CoreBluetooth")
        }
        return .visitChildren
    }

    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
        guard hideIfMissing(node) == .visitChildren else { return .skipChildren }
        adapt(node)
        return .visitChildren
    }

    override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind { hideIfMissing(node) }
    override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind { hideIfMissing(node) }
    override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind { hideIfMissing(node) }
    override func visit(_ node: TypeAliasDeclSyntax) -> SyntaxVisitorContinueKind { hideIfMissing(node) }
    override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind { hideIfMissing(node) }
    override func visit(_ node: SubscriptDeclSyntax) -> SyntaxVisitorContinueKind { hideIfMissing(node) }
    override func visit(_ node: EnumCaseDeclSyntax) -> SyntaxVisitorContinueKind { hideIfMissing(node) }

    override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
        guard node.ancestor(FunctionDeclSyntax.self) == nil else { return .visitChildren }
        guard hideIfMissing(node) == .visitChildren else { return .skipChildren }
        addReport(node)
        return .visitChildren
    }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        if node.name.text == "autoreleasepool" { declaresAutoreleasepool = true }
        if node.name.text == "observeValue",
            node.signature.parameterClause.parameters.first?.firstName.text == "forKeyPath"
        {
            find(node, "key-value observing of this kind needs Objective-C: use observe(\\.…), @Published or a closure")
        }
        checkSilentTrap(node)
        return hideIfMissing(node)
    }

    override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind { hideIfMissing(node) }

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        adapt(node) ? .skipChildren : .visitChildren
    }

    override func visit(_ node: OptionalChainingExprSyntax) -> SyntaxVisitorContinueKind {
        adapt(node)
        return .visitChildren
    }

    override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
        unwrapOptional(node)
        if node.declName.baseName.text == "LaunchOptionsKey", node.base?.trimmedDescription == "UIApplication" {
            need("CoreBluetooth")
        }
        return .visitChildren
    }

    override func visit(_ node: ForceUnwrapExprSyntax) -> SyntaxVisitorContinueKind {
        replaceBundleIdentifier(node)
        return .visitChildren
    }

    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind {
        switch node.macroName.text {
        case "selector": find(node, "selectors need Objective-C: pass a closure")
        case "keyPath": find(node, "#keyPath needs Objective-C: write the key as a string, or use a key path")
        default: break
        }
        return .visitChildren
    }

    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
        adapt(node)
        return .visitChildren
    }

    override func visit(_ node: IdentifierTypeSyntax) -> SyntaxVisitorContinueKind {
        adapt(node)
        return .visitChildren
    }

    override func visit(_ node: AsExprSyntax) -> SyntaxVisitorContinueKind {
        adapt(node)
        return .visitChildren
    }
}

/// Which selectors of a file can be rewritten, and what it imports.
private final class SelectorUse: SyntaxVisitor {
    private(set) var rewritable: Set<String> = []
    private(set) var imports: Set<String> = []
    private var others: Set<String> = []

    init(_ file: ParsedFile) {
        super.init(viewMode: .sourceAccurate)
        walk(file.tree)
        rewritable.subtract(others)
    }

    override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
        imports.insert(node.path.first?.name.text ?? "")
        return .skipChildren
    }

    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind {
        guard node.macroName.text == "selector", let selector = Selector(node) else { return .visitChildren }
        let call = node.parent?.as(LabeledExprSyntax.self)?.parent?.parent?.as(FunctionCallExprSyntax.self)
        // A timer's is rewritten for all platforms; the others keep theirs where there is Objective-C.
        if let call, TimerCall(call) != nil {
            rewritable.insert(selector.name)
        } else {
            others.insert(selector.name)
        }
        return .visitChildren
    }
}
