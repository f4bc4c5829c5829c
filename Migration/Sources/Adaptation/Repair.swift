import SwiftSyntax

extension Adaptation {
    /// Repairs errors that the compiler has reported, as far as the error and the source determine the change.
    ///
    /// - Parameter hidesRest: whether declarations with other errors are put behind a condition, in files that import a
    ///   framework that Linux lacks.
    public static func repair(
        _ sources: [SourceText], errors: [Diagnostic], hidesRest: Bool = false
    ) -> [AdaptedText] {
        let byFile = Dictionary(grouping: errors, by: \.file)
        return sources.map { source in
            let file = ParsedFile(source)
            guard file.errors.isEmpty, let errors = byFile[source.path] else { return AdaptedText(unchanged: source) }
            var repair = Repair(file)
            for error in errors { repair.apply(error, hidesRest: hidesRest) }
            return AdaptedText(
                path: source.path, before: source.text, after: repair.edits.applied(to: source.text),
                edits: repair.edits.count, findings: repair.findings)
        }
    }
}

/// Repairs errors of one file.
private struct Repair {
    let file: ParsedFile
    var edits = Edits()
    /// What was put behind a condition.
    private(set) var findings: [Finding] = []
    private var modules: Set<String>
    /// Places that have been repaired: one place can have several errors.
    private var repaired: Set<Int> = []
    private var hidden: [Range<Int>] = []

    init(_ file: ParsedFile) {
        self.file = file
        modules = AllImports(file).modules
    }

    mutating func apply(_ error: Diagnostic, hidesRest: Bool) {
        let position = file.locations.position(ofLine: error.line, column: error.column)
        guard let token = file.tree.token(at: position) else { return }
        let message = error.message
        if let match = message.firstMatch(of: /^value of optional type '(\w+)\?' must be unwrapped/) {
            unwrap(token, type: String(match.1))
        } else if let match = message.firstMatch(of: /^no such module '(\w+)'/) {
            hideImport(token, of: String(match.1))
        } else if let match = message.firstMatch(of: /^cannot find (?:type )?'(\w+)' in scope/) {
            if !importModule(of: String(match.1)) { hide(token) }
        } else if let match = message.firstMatch(
            of: /^(?:value of type '[\w<>]+'|type '[\w<>]+') has no member '(\w+)'/)
        {
            importMember(String(match.1))
        } else if message.contains("does not conform to expected type 'CVarArg'") {
            describe(token)
        } else if message.contains("moved to the FoundationNetworking module") {
            addImport("FoundationNetworking")
        } else if message.hasPrefix("cannot inherit from class '") && message.contains("could not be loaded") {
            addImport("CoreFoundation")
        } else if message.hasPrefix("cannot use optional chaining on non-optional value") {
            removeMark(token)
        } else if hidesRest {
            hide(token)
        }
    }

    /// The properties that newer SDKs have made optional: `characteristic.service.uuid`.
    private mutating func unwrap(_ token: TokenSyntax, type: String) {
        guard ["CBService", "CBPeripheral", "CBCharacteristic"].contains(type),
            let reference = token.parent?.as(DeclReferenceExprSyntax.self)
        else { return }
        let access = reference.parent?.as(MemberAccessExprSyntax.self)
        let isMember = access?.declName.id == reference.id
        insert("!", at: (isMember ? access?.textRange : reference.textRange)?.upperBound)
    }

    private mutating func hideImport(_ token: TokenSyntax, of module: String) {
        guard let node = token.ancestor(ImportDeclSyntax.self), once(node.textRange.lowerBound) else { return }
        edits.replace(
            node.textRange, with: "#if canImport(\(module))\n\(node.trimmedDescription)\n#endif")
    }

    /// A type or function of a module that the file does not import.
    private mutating func importModule(of name: String) -> Bool {
        guard let module = Modules.module(of: name) else { return false }
        return addImport(module)
    }

    /// Puts the declaration or statement around an unknown name behind a condition, if the file imports a framework
    /// that Linux lacks. Then the name is most likely that framework's.
    private mutating func hide(_ token: TokenSyntax) {
        guard let module = modules.filter(Modules.isMissing).min() else { return }
        if let branches = AvailabilityBranches(around: token) { return choose(branches, module) }
        guard let node = hideable(around: token) else { return }
        let line = Line(around: node.textRange, in: file.octets)
        guard once(node.textRange.lowerBound), !hidden.contains(where: { $0.contains(node.textRange.lowerBound) })
        else {
            return
        }
        hidden.append(node.textRange)
        let place = node.startLocation(converter: file.locations)
        findings.append(
            Finding(
                file: file.path, line: place.line, column: place.column,
                reason: "this is left out on Linux, behind #if canImport(\(module))", kind: .behavior))
        let (start, end) = (node.textRange.lowerBound, node.textRange.upperBound)
        edits.replace(
            start..<start,
            with: (line.isFirst ? "" : "\n\(line.indentation)") + "#if canImport(\(module))\n\(line.indentation)")
        edits.replace(end..<end, with: "\n\(line.indentation)#endif" + (line.isLast ? "" : "\n\(line.indentation)"))
    }

    /// On Linux, `#available` is always true, so the other branch is what remains without the framework.
    private mutating func choose(_ branches: AvailabilityBranches, _ module: String) {
        let range = branches.statement.textRange
        guard once(range.lowerBound) else { return }
        let indentation = Line(around: range, in: file.octets).indentation
        edits.replace(range.lowerBound..<range.lowerBound, with: "#if canImport(\(module))\n\(indentation)")
        edits.replace(
            range.upperBound..<range.upperBound,
            with:
                "\n\(indentation)#else\n\(indentation)do \(branches.otherwise.trimmedDescription)\n\(indentation)#endif"
        )
    }

    /// The nearest declaration, or statement without a result, around a token.
    private func hideable(around token: TokenSyntax) -> Syntax? {
        var node = token.parent
        while let current = node {
            defer { node = current.parent }
            if let item = current.as(CodeBlockItemSyntax.self) {
                switch item.item {
                case .expr:
                    // The value of a closure or function that is written without `return`.
                    let list = item.parent?.as(CodeBlockItemListSyntax.self)
                    if list?.count != 1 || list?.parent?.is(SourceFileSyntax.self) == true { return Syntax(item) }
                case .stmt(let statement):
                    if !statement.is(ReturnStmtSyntax.self), !statement.is(GuardStmtSyntax.self) { return Syntax(item) }
                case .decl(let declaration):
                    if !declaration.is(VariableDeclSyntax.self)
                        || item.parent?.parent?.is(SourceFileSyntax.self) == true
                    {
                        return Syntax(item)
                    }
                }
            } else if let member = current.as(MemberBlockItemSyntax.self) {
                return Syntax(member)
            }
        }
        return nil
    }

    /// Members that the module CoreBluetooth adds to types of Foundation on Linux.
    private mutating func importMember(_ name: String) {
        let added: Set<String> = [
            "advanced", "distance", "formatted", "isLowPowerModeEnabled", "setValue", "thermalState", "value",
        ]
        if added.contains(name) { addImport("CoreBluetooth") }
    }

    @discardableResult
    private mutating func addImport(_ module: String) -> Bool {
        guard modules.insert(module).inserted else { return false }
        let start = file.tree.importPosition
        edits.replace(start..<start, with: importText(module))
        return true
    }

    private mutating func describe(_ token: TokenSyntax) {
        var node = Syntax(token)
        while let parent = node.parent, !parent.is(LabeledExprSyntax.self) { node = parent }
        guard node.parent?.is(LabeledExprSyntax.self) == true, once(node.textRange.lowerBound) else { return }
        edits.replace(node.textRange, with: "String(describing: \(node.trimmedDescription))")
    }

    /// `delegate?.peripheral?(…)`, where Linux has no optional methods.
    private mutating func removeMark(_ token: TokenSyntax) {
        var node: Syntax? = Syntax(token)
        while let current = node, !current.is(OptionalChainingExprSyntax.self), !current.is(CodeBlockItemSyntax.self) {
            node = current.parent
        }
        guard let chain = node?.as(OptionalChainingExprSyntax.self), let statement = chain.statement,
            once(chain.questionMark.textRange.lowerBound)
        else { return }
        edits.replace(chain.questionMark.textRange, with: "", onLinuxIn: statement.textRange)
    }

    private mutating func insert(_ text: String, at position: Int?) {
        guard let position, once(position) else { return }
        edits.replace(position..<position, with: text)
    }

    private mutating func once(_ position: Int) -> Bool { repaired.insert(position).inserted }
}

/// The lines that import a module. Those that only Linux has are behind a condition.
func importText(_ module: String) -> String {
    switch module {
    case "FoundationNetworking", "CoreFoundation":
        "#if canImport(\(module)) && !canImport(ObjectiveC)\nimport \(module)\n#endif\n"
    default: "import \(module)\n"
    }
}

extension SourceFileSyntax {
    /// Where another import can be written: before the first one.
    var importPosition: Int {
        let first = statements.first { $0.item.is(ImportDeclSyntax.self) || $0.startsWithImport }
        return (first ?? statements.first)?.textRange.lowerBound ?? endOfFileToken.textRange.lowerBound
    }

    /// Whether the file imports anything.
    var hasImports: Bool { statements.contains { $0.item.is(ImportDeclSyntax.self) || $0.startsWithImport } }
}

extension CodeBlockItemSyntax {
    /// `#if canImport(Combine)` around an import.
    fileprivate var startsWithImport: Bool {
        guard let condition = item.as(IfConfigDeclSyntax.self),
            case .statements(let statements)? = condition.clauses.first?.elements
        else { return false }
        return statements.first?.item.is(ImportDeclSyntax.self) ?? false
    }
}

/// `if #available(…) { … } else { … }`, where a token is in the first branch.
private struct AvailabilityBranches {
    let statement: CodeBlockItemSyntax
    let otherwise: CodeBlockSyntax

    init?(around token: TokenSyntax) {
        guard let condition = token.ancestor(IfExprSyntax.self),
            condition.conditions.contains(where: { $0.condition.is(AvailabilityConditionSyntax.self) }),
            case .codeBlock(let otherwise)? = condition.elseBody,
            condition.body.textRange.contains(token.positionAfterSkippingLeadingTrivia.utf8Offset),
            let statement = condition.statement, statement.textRange.lowerBound == condition.textRange.lowerBound
        else { return nil }
        (self.statement, self.otherwise) = (statement, otherwise)
    }
}
