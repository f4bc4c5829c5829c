import SwiftSyntax

/// What the files declare that is needed to rewrite any of them.
struct Facts {
    struct Method {
        let name: String
        /// The labels of its parameters; `_` where there is none.
        let labels: [String]
        let returnsNothing: Bool
    }

    /// A method with its declaration.
    struct Body {
        let node: FunctionDeclSyntax
        let overrides: Bool
        /// Whether an extension declares it, which subclasses cannot override on Linux.
        let isInExtension: Bool
    }

    struct Class {
        var inherits: [String] = []
        /// The methods, by name and labels.
        var bodies: [String: Body] = [:]
        /// The types of stored properties, where they are stated, without marks of optionals.
        var properties: [String: String] = [:]
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
    private var observes = false
    private var classesWithDynamicProperties: Set<String> = []
    /// Methods by type and name.
    var methods: [String: [String: Method]] = [:]
    var classes: [String: Class] = [:]
    /// The types that are classes: `false` for structures and others.
    var isClass: [String: Bool] = [:]
    var publicClasses: Set<String> = []
    /// The types that the files declare, with aliases and protocols.
    var declaredTypes: Set<String> = []
    /// The methods of protocols that may be left out, by name and labels.
    var optionalMethodNames: [String: Set<String>] = [:]
    /// Delegate methods that would never be called.
    var traps: Set<Trap> = []
    /// The methods that base classes need, by class, name and labels.
    var stubs: [String: [String: String]] = [:]
    /// Classes that observe their own properties, or have properties that can be observed.
    var observableClasses: Set<String> = []
    /// Types that exist only where Linux does not compile, with the condition.
    var hiddenTypes: [String: String] = [:]
    /// Members of that kind, by type and name. Those at the top of files have an empty type.
    var hiddenMembers: [String: [String: String]] = [:]
    /// Whether swift-crypto can replace something that is used of CommonCrypto.
    var usesDigests = false
    /// Whether calls that `perform` will make are called off somewhere.
    var cancelsPerforms = false

    init(of files: [ParsedFile]) {
        let collector = Collector(viewMode: .sourceAccurate)
        for file in files { collector.walk(file.tree) }
        self = collector.facts
        // Only where something is observed at all, properties have to report their changes.
        observableClasses.formUnion(observes ? classesWithDynamicProperties : [])
        // One that cannot have a default keeps its protocol as it is, until somebody has given it one.
        for (name, declarations) in requirements {
            let open = declarations.filter { defaultImplementation($0) == nil }
            guard !open.isEmpty else { continue }
            protocolsWithDefaults.remove(name)
            openProtocols.insert(name)
            optionalMethodNames[name] = nil
            for declaration in declarations { optionalRequirements.subtract(declaration.declaredNames) }
        }
        findTraps()
        HiddenNames.add(to: &self, files)
    }

    private init() {}

    /// Whether a class above this one can be observed on Linux.
    func isObservable(superclassOf name: String) -> Bool {
        var current = name
        for _ in 0..<32 {
            guard let next = classes[current]?.inherits.first(where: { isClass[$0] == true }) else { return false }
            if observableClasses.contains(next) { return true }
            current = next
        }
        return false
    }

    /// The type that a class, or one above it, states for a property.
    func propertyType(_ name: String, of type: String) -> String? {
        var current = type
        for _ in 0..<32 {
            guard let declared = classes[current] else { return nil }
            if let found = declared.properties[name] { return found }
            guard let next = declared.inherits.first(where: { isClass[$0] == true }) else { return nil }
            current = next
        }
        return nil
    }

    /// Whether objects of a type can be observed on Linux.
    func canObserve(_ type: String) -> Bool {
        let isCoreBluetooth = [
            "CBCentralManager", "CBPeripheralManager", "CBPeripheral", "CBCharacteristic", "CBManager",
        ].contains(type)
        return isCoreBluetooth || observableClasses.contains(type) || isObservable(superclassOf: type)
    }

    /// Whether a name is that of an optional method of Core Bluetooth's delegates. They are called by their argument.
    static let delegateMethods: Set<String> = [
        "centralManager", "centralManagerDidUpdateState", "peripheral", "peripheralDidUpdateName",
        "peripheralDidUpdateRSSI", "peripheralIsReady", "peripheralManager", "peripheralManagerDidUpdateState",
        "peripheralManagerDidStartAdvertising", "peripheralManagerIsReady",
    ]

    static let delegateProtocols: Set<String> = [
        "CBCentralManagerDelegate", "CBPeripheralDelegate", "CBPeripheralManagerDelegate",
    ]

    /// The name of a type without attributes, optionals and generic arguments: `Base` of `@unchecked Base<Int>?`.
    static func plainName(_ type: TypeSyntax) -> String {
        let text = type.trimmedDescription.split(separator: " ").last.map(String.init) ?? ""
        return String(text.prefix { $0 != "<" }.filter { !"?!()".contains($0) })
    }

    /// The name of a method with its labels: `peripheral(_:didDiscoverServices:)`.
    static func fullName(_ function: FunctionDeclSyntax) -> String {
        let labels = function.signature.parameterClause.parameters.map { $0.firstName.text + ":" }
        return function.name.text + "(" + labels.joined() + ")"
    }

    private final class Collector: SyntaxVisitor {
        var facts = Facts()

        override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind {
            for elements in node.elementsOnLinux { walk(elements) }
            return .skipChildren
        }

        override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind { declare(node.name.text, false) }
        override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind { declare(node.name.text, false) }
        override func visit(_ node: ActorDeclSyntax) -> SyntaxVisitorContinueKind { declare(node.name.text, false) }

        override func visit(_ node: TypeAliasDeclSyntax) -> SyntaxVisitorContinueKind {
            facts.declaredTypes.insert(node.name.text)
            return .visitChildren
        }

        override func visit(_ node: GenericParameterSyntax) -> SyntaxVisitorContinueKind {
            facts.declaredTypes.insert(node.name.text)
            return .visitChildren
        }

        override func visit(_ node: AssociatedTypeDeclSyntax) -> SyntaxVisitorContinueKind {
            facts.declaredTypes.insert(node.name.text)
            return .visitChildren
        }

        private func declare(_ name: String, _ isClass: Bool) -> SyntaxVisitorContinueKind {
            facts.declaredTypes.insert(name)
            facts.isClass[name] = isClass
            return .visitChildren
        }

        override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
            guard let type = Syntax(node).enclosingType, node.ancestor(FunctionDeclSyntax.self) == nil else {
                return .visitChildren
            }
            for binding in node.bindings {
                guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text else { continue }
                let annotation = binding.typeAnnotation?.type
                let call = binding.initializer?.value.as(FunctionCallExprSyntax.self)?.calledExpression
                    .trimmedDescription
                facts.classes[type, default: Class()].properties[name] =
                    annotation.map(Facts.plainName) ?? call
            }
            if node.modifiers.contains(where: { $0.name.tokenKind == .keyword(.dynamic) }) {
                facts.classesWithDynamicProperties.insert(type)
            }
            return .visitChildren
        }

        override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
            facts.declaredTypes.insert(node.name.text)
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
                if let function = member.decl.as(FunctionDeclSyntax.self) {
                    facts.optionalMethodNames[node.name.text, default: []].insert(Facts.fullName(function))
                }
            }
            return .visitChildren
        }

        override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
            add(node.inheritanceClause, to: node.name.text)
            if node.modifiers.contains(where: { ["public", "open"].contains($0.name.text) }) {
                facts.publicClasses.insert(node.name.text)
            }
            return declare(node.name.text, true)
        }

        override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
            add(node.inheritanceClause, to: node.extendedType.trimmedDescription)
            return .visitChildren
        }

        private func add(_ clause: InheritanceClauseSyntax?, to name: String) {
            facts.classes[name, default: Class()].inherits +=
                clause?.inheritedTypes.map {
                    Facts.plainName($0.type)
                } ?? []
        }

        override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
            guard let type = Syntax(node).enclosingType else { return .visitChildren }
            let labels = node.signature.parameterClause.parameters.map { $0.firstName.text }
            let method = Method(
                name: node.name.text, labels: labels, returnsNothing: node.signature.returnClause == nil)
            facts.methods[type, default: [:]][node.name.text] = method
            facts.methods[type, default: [:]][Facts.fullName(node)] = method
            facts.classes[type, default: Class()].bodies[Facts.fullName(node)] = Body(
                node: node, overrides: node.modifiers.contains { $0.name.tokenKind == .keyword(.override) },
                isInExtension: node.ancestor(ExtensionDeclSyntax.self) != nil)
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
            if node.arguments.first?.expression.is(KeyPathExprSyntax.self) == true,
                let name = node.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text
                    ?? node.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text,
                ["observe", "publisher"].contains(name)
            {
                facts.observes = true
                if node.isOwnObserve, let type = Syntax(node).enclosingType { facts.observableClasses.insert(type) }
            }
            return .visitChildren
        }

        override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
            if CommonCrypto.provides(node.baseName.text) { facts.usesDigests = true }
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
