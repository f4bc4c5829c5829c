import SwiftSyntax

/// What the files declare that is needed to rewrite any of them.
struct Facts {
    struct Method {
        let name: String
        /// The labels of its parameters; `_` where there is none.
        let labels: [String]
        let returnsNothing: Bool
    }

    struct Class {
        var inherits: [String] = []
        /// Methods of the delegates of Core Bluetooth, with the places of those that do not override.
        var delegateMethods: [String: Bool] = [:]
    }

    /// Optional requirements of protocols, by name.
    var optionalRequirements: Set<String> = []
    /// Protocols whose optional requirements become ones with defaults.
    var protocolsWithDefaults: Set<String> = []
    /// Those of which one requirement cannot be given a default.
    var openProtocols: Set<String> = []
    /// What callers take for the answer of an optional requirement that is not there, as in `d?.mayStop?(self) ??
    /// true`.
    var answers: [String: Set<String>] = [:]
    /// Types that observe notifications with a selector.
    var observers: Set<String> = []
    var classBoundProtocols: Set<String> = ["NSObjectProtocol", "AnyObject", "class"]
    /// The optional requirements of each protocol.
    private var requirements: [String: [DeclSyntax]] = [:]
    /// Methods by type and name.
    var methods: [String: [String: Method]] = [:]
    var classes: [String: Class] = [:]
    /// Whether calls that `perform` will make are called off somewhere.
    var cancelsPerforms = false

    init(of files: [ParsedFile]) {
        let collector = Collector(viewMode: .sourceAccurate)
        for file in files { collector.walk(file.tree) }
        self = collector.facts
        // One that cannot have a default keeps its protocol as it is, until somebody has given it one.
        for (name, declarations) in requirements {
            let open = declarations.filter { defaultImplementation($0) == nil }
            guard !open.isEmpty else { continue }
            protocolsWithDefaults.remove(name)
            openProtocols.insert(name)
            for declaration in declarations { optionalRequirements.subtract(declaration.declaredNames) }
        }
    }

    private init() {}

    /// Whether a name is that of an optional method of Core Bluetooth's delegates. They are called by their argument.
    static let delegateMethods: Set<String> = [
        "centralManager", "centralManagerDidUpdateState", "peripheral", "peripheralDidUpdateName",
        "peripheralDidUpdateRSSI", "peripheralIsReady", "peripheralManager", "peripheralManagerDidUpdateState",
        "peripheralManagerDidStartAdvertising", "peripheralManagerIsReady",
    ]

    static let delegateProtocols: Set<String> = [
        "CBCentralManagerDelegate", "CBPeripheralDelegate", "CBPeripheralManagerDelegate",
    ]

    /// Whether a class, or one that it derives from, has a protocol of Core Bluetooth's delegates.
    func isDelegate(_ name: String, _ depth: Int = 0) -> Bool {
        guard depth < 32, let type = classes[name] else { return false }
        return type.inherits.contains { Self.delegateProtocols.contains($0) || isDelegate($0, depth + 1) }
    }

    /// The name of a method with its labels: `peripheral(_:didDiscoverServices:)`.
    static func fullName(_ function: FunctionDeclSyntax) -> String {
        let labels = function.signature.parameterClause.parameters.map { $0.firstName.text + ":" }
        return function.name.text + "(" + labels.joined() + ")"
    }

    private final class Collector: SyntaxVisitor {
        var facts = Facts()

        override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
            let inherited = node.inheritanceClause?.inheritedTypes.map { $0.type.trimmedDescription } ?? []
            if node.attributes.has("objc") || inherited.contains(where: facts.classBoundProtocols.contains) {
                facts.classBoundProtocols.insert(node.name.text)
            }
            for member in node.memberBlock.members {
                guard let modifiers = member.decl.asProtocol((any WithModifiersSyntax).self)?.modifiers,
                    modifiers.contains(where: { $0.name.tokenKind == .keyword(.optional) })
                else { continue }
                facts.protocolsWithDefaults.insert(node.name.text)
                facts.requirements[node.name.text, default: []].append(member.decl)
                facts.optionalRequirements.formUnion(member.decl.declaredNames)
            }
            return .visitChildren
        }

        override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
            add(node.inheritanceClause, to: node.name.text)
            return .visitChildren
        }

        override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
            add(node.inheritanceClause, to: node.extendedType.trimmedDescription)
            return .visitChildren
        }

        private func add(_ clause: InheritanceClauseSyntax?, to name: String) {
            facts.classes[name, default: Class()].inherits +=
                clause?.inheritedTypes.map {
                    $0.type.trimmedDescription.split(separator: " ").last.map(String.init) ?? ""
                } ?? []
        }

        override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
            guard let type = Syntax(node).enclosingType else { return .visitChildren }
            let labels = node.signature.parameterClause.parameters.map { $0.firstName.text }
            let method = Method(
                name: node.name.text, labels: labels, returnsNothing: node.signature.returnClause == nil)
            facts.methods[type, default: [:]][node.name.text] = method
            facts.methods[type, default: [:]][Facts.fullName(node)] = method
            if Facts.delegateMethods.contains(node.name.text) {
                let overrides = node.modifiers.contains { $0.name.tokenKind == .keyword(.override) }
                facts.classes[type, default: Class()].delegateMethods[Facts.fullName(node)] = overrides
            }
            return .visitChildren
        }

        /// `d?.mayStop?(self) ?? true`, `d?.mayStop?(self) == true`
        override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
            var called = node.leftOperand
            while let chain = called.as(OptionalChainingExprSyntax.self) { called = chain.expression }
            guard
                let callee = called.as(FunctionCallExprSyntax.self)?.calledExpression.as(
                    OptionalChainingExprSyntax.self),
                let name = callee.expression.as(MemberAccessExprSyntax.self)?.declName.baseName.text
            else { return .visitChildren }
            let value = node.rightOperand.trimmedDescription
            switch node.operator.trimmedDescription {
            case "??":
                let isLiteral =
                    node.rightOperand.is(BooleanLiteralExprSyntax.self)
                    || node.rightOperand.is(IntegerLiteralExprSyntax.self)
                    || node.rightOperand.is(StringLiteralExprSyntax.self)
                    || node.rightOperand.is(ArrayExprSyntax.self)
                facts.answers[name, default: []].insert(isLiteral ? value : "?")
            // What is not there is neither.
            case "==" where value == "true" || value == "false":
                facts.answers[name, default: []].insert(value == "true" ? "false" : "true")
            case "!=" where value == "true" || value == "false":
                facts.answers[name, default: []].insert(value)
            default: break
            }
            return .visitChildren
        }

        override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
            if node.arguments.contains(where: { $0.label?.text == "selector" }),
                node.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text == "addObserver",
                let type = Syntax(node).enclosingType
            {
                facts.observers.insert(type)
            }
            return .visitChildren
        }

        override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
            if node.declName.baseName.text == "cancelPreviousPerformRequests" { facts.cancelsPerforms = true }
            return .visitChildren
        }
    }
}

extension DeclSyntax {
    var declaredNames: [String] {
        if let function = self.as(FunctionDeclSyntax.self) { return [function.name.text] }
        return self.as(VariableDeclSyntax.self)?.bindings.compactMap {
            $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.text
        } ?? []
    }
}

extension AttributeListSyntax {
    func has(_ name: String) -> Bool {
        contains { $0.as(AttributeSyntax.self)?.attributeName.trimmedDescription == name }
    }
}
