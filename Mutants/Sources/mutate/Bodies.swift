import SwiftSyntax

/// The statements of a function, an initializer or an accessor: what is kept once for each mutant in there.
struct Body {
    /// The bytes between its braces.
    var range: Range<Int>
    /// Whether it is one expression, without the `return` that could stand before it.
    var impliesReturn = false
}

/// Finds the outermost bodies of a file, those that are in no other one.
final class BodyFinder: SyntaxVisitor {
    private(set) var bodies: [Body] = []

    init(_ file: some SyntaxProtocol) {
        super.init(viewMode: .sourceAccurate)
        walk(file)
    }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        add(node.body, returnsValue: node.signature.returnsValue)
    }

    override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
        add(node.body, returnsValue: false)
    }

    override func visit(_ node: AccessorDeclSyntax) -> SyntaxVisitorContinueKind {
        add(node.body, returnsValue: node.accessorSpecifier.tokenKind == .keyword(.get))
    }

    override func visit(_ node: AccessorBlockSyntax) -> SyntaxVisitorContinueKind {
        guard case .getter(let statements) = node.accessors else { return .visitChildren }
        return add(statements, node.leftBrace, node.rightBrace, returnsValue: true)
    }

    // A closure that is a stored property's initial value belongs to no function.
    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

    private func add(_ block: CodeBlockSyntax?, returnsValue: Bool) -> SyntaxVisitorContinueKind {
        guard let block else { return .skipChildren }
        return add(block.statements, block.leftBrace, block.rightBrace, returnsValue: returnsValue)
    }

    private func add(
        _ statements: CodeBlockItemListSyntax, _ leftBrace: TokenSyntax, _ rightBrace: TokenSyntax, returnsValue: Bool
    ) -> SyntaxVisitorContinueKind {
        guard let first = statements.first else { return .skipChildren }
        var body = Body(
            range: leftBrace.endPositionBeforeTrailingTrivia
                .utf8Offset..<rightBrace.positionAfterSkippingLeadingTrivia.utf8Offset)
        if returnsValue, statements.count == 1, case .expr(let expression) = first.item, !expression.leavesByItself {
            body.impliesReturn = true
        }
        bodies.append(body)
        return .skipChildren
    }
}

extension FunctionSignatureSyntax {
    var returnsValue: Bool {
        guard let type = returnClause?.type.trimmedDescription else { return false }
        return type != "Void" && type != "()" && type != "Never"
    }
}

extension ExprSyntax {
    /// Whether it is an `if` or a `switch` with statements that return, or throw, rather than with values.
    fileprivate var leavesByItself: Bool {
        guard `is`(IfExprSyntax.self) || `is`(SwitchExprSyntax.self) else { return false }
        return tokens(viewMode: .sourceAccurate).contains { $0.tokenKind == .keyword(.return) }
    }
}
