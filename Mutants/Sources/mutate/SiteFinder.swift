import SwiftSyntax

/// Finds the places of a file that a mutant can be made of, and how each is changed.
final class SiteFinder: SyntaxVisitor {
    private(set) var edits: [Edit] = []
    /// How many function bodies are around the node that is visited.
    private var depth = 0

    init(_ file: some SyntaxProtocol) {
        super.init(viewMode: .sourceAccurate)
        walk(file)
    }

    private func add(_ kind: Edit.Kind, _ node: some SyntaxProtocol, _ replacement: String) {
        guard depth > 0, node.trimmedDescription != replacement else { return }
        let range = node.positionAfterSkippingLeadingTrivia.utf8Offset..<node.endPositionBeforeTrailingTrivia.utf8Offset
        edits.append(Edit(kind: kind, range: range, replacement: replacement))
    }

    // MARK: Bodies

    override func visit(_ node: CodeBlockSyntax) -> SyntaxVisitorContinueKind {
        depth += 1
        return .visitChildren
    }

    override func visitPost(_ node: CodeBlockSyntax) { depth -= 1 }

    override func visit(_ node: AccessorBlockSyntax) -> SyntaxVisitorContinueKind {
        if case .getter = node.accessors { depth += 1 }
        return .visitChildren
    }

    override func visitPost(_ node: AccessorBlockSyntax) {
        if case .getter = node.accessors { depth -= 1 }
    }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        guard let statements = node.body?.statements, !statements.isEmpty else { return .visitChildren }
        depth += 1
        defer { depth -= 1 }
        let result = node.signature.returnClause?.type.trimmedDescription ?? "Void"
        switch result {
        case "Void": add(.earlyReturn, statements, "return")
        case "Bool":
            add(.earlyReturn, statements, "return true")
            add(.earlyReturn, statements, "return false")
        case _ where result.hasSuffix("?"): add(.earlyReturn, statements, "return nil")
        case _ where result.hasPrefix("[") && !result.contains(":"): add(.earlyReturn, statements, "return []")
        default: break
        }
        return .visitChildren
    }

    // MARK: Expressions

    private static let comparisons = ["<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="]
    private static let connectives = ["&&": "||", "||": "&&"]
    private static let arithmetic = ["+": "-", "-": "+", "&+": "&-", "&-": "&+", "+=": "-=", "-=": "+="]
    private static let ranges = ["..<", "..."]

    override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        guard let sign = node.operator.as(BinaryOperatorExprSyntax.self)?.operator else { return .visitChildren }
        if let other = Self.comparisons[sign.text] { add(.comparison, sign, other) }
        if let other = Self.connectives[sign.text] { add(.logic, sign, other) }
        if let other = Self.arithmetic[sign.text], ![node.leftOperand, node.rightOperand].contains(where: \.isNoNumber)
        {
            add(.arithmetic, sign, other)
        }
        let isCounting =
            Self.comparisons[sign.text] != nil || Self.arithmetic[sign.text] != nil || Self.ranges.contains(sign.text)
        if isCounting {
            for operand in [node.leftOperand, node.rightOperand] { countOneMore(operand) }
        }
        return .visitChildren
    }

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        // What is never to happen is no place for a mutant.
        let name = node.calledExpression.trimmedDescription
        if ["assert", "assertionFailure", "precondition", "preconditionFailure", "fatalError"].contains(name) {
            return .skipChildren
        }
        for argument in node.arguments { countOneMore(argument.expression) }
        return .visitChildren
    }

    private func countOneMore(_ expression: ExprSyntax) {
        guard let literal = expression.as(IntegerLiteralExprSyntax.self), let value = Int(literal.literal.text) else {
            return
        }
        add(.count, literal, "\(value + 1)")
    }

    override func visit(_ node: PrefixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        if node.operator.text == "!" { add(.logic, node, node.expression.trimmedDescription) }
        return .visitChildren
    }

    override func visit(_ node: TernaryExprSyntax) -> SyntaxVisitorContinueKind {
        add(.condition, node.condition, "!(\(node.condition.trimmedDescription))")
        return .visitChildren
    }

    // MARK: Statements

    override func visit(_ node: IfExprSyntax) -> SyntaxVisitorContinueKind {
        for element in node.conditions {
            switch element.condition {
            case .expression(let condition):
                add(.condition, condition, "true")
                add(.condition, condition, "false")
            default: add(.condition, element.condition, "false, \(element.condition.trimmedDescription)")
            }
        }
        return .visitChildren
    }

    override func visit(_ node: GuardStmtSyntax) -> SyntaxVisitorContinueKind {
        for element in node.conditions {
            if case .expression(let condition) = element.condition { add(.condition, condition, "true") }
        }
        return .visitChildren
    }

    override func visit(_ node: WhereClauseSyntax) -> SyntaxVisitorContinueKind {
        add(.condition, node.condition, "true")
        return .visitChildren
    }

    override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
        guard case .expr(let expression) = node.item, !node.isOnlyItemOfExpression else { return .visitChildren }
        if let infix = expression.as(InfixOperatorExprSyntax.self) {
            let isCompound = infix.operator.as(BinaryOperatorExprSyntax.self)?.operator.text.hasSuffix("=") ?? false
            if infix.operator.is(AssignmentExprSyntax.self) || isCompound, !node.isInInitializer {
                add(.assignment, node, "do {}")
            }
        } else if expression.isCall {
            add(.call, node, "do {}")
        }
        return .visitChildren
    }
}

extension ExprSyntax {
    /// Whether it is surely something that `-` is not for.
    var isNoNumber: Bool {
        `is`(StringLiteralExprSyntax.self) || `is`(ArrayExprSyntax.self)
    }

    /// Whether it is a call that leaves a mark on its own.
    var isCall: Bool {
        if let attempt = self.as(TryExprSyntax.self) { return attempt.expression.isCall }
        if let chain = self.as(OptionalChainingExprSyntax.self) { return chain.expression.isCall }
        guard let call = self.as(FunctionCallExprSyntax.self) else { return false }
        let name = call.calledExpression.trimmedDescription
        return name != "self.init" && name != "super.init"
    }
}

extension CodeBlockItemSyntax {
    /// Whether it is a statement of an initializer itself, which mostly cannot do without.
    var isInInitializer: Bool { parent?.parent?.parent?.is(InitializerDeclSyntax.self) ?? false }

    /// Whether it may be the value of a closure, a getter, a function or a case without `return`.
    var isOnlyItemOfExpression: Bool {
        guard let list = parent?.as(CodeBlockItemListSyntax.self), list.count == 1 else { return false }
        guard let owner = list.parent else { return false }
        if owner.is(ClosureExprSyntax.self) || owner.is(AccessorBlockSyntax.self) { return true }
        if let function = owner.parent?.as(FunctionDeclSyntax.self) { return function.signature.returnsValue }
        return false
    }
}
