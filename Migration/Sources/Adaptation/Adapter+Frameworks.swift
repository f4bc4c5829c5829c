import SwiftSyntax

extension Adapter {
    /// Puts a declaration or a statement that is about a framework that Linux has not got, such as one for what is seen
    /// on a screen, behind a condition. Then nothing within it has to be adapted.
    func hideIfMissing(_ node: some SyntaxProtocol) -> SyntaxVisitorContinueKind {
        // What is behind a condition already needs no change.
        guard node.textRange.lowerBound >= hiddenUntil else { return .skipChildren }
        guard let condition = missing.condition(of: Syntax(node)) else { return .visitChildren }
        if let item = Syntax(node).as(CodeBlockItemSyntax.self), replaceValues(in: item) { return .skipChildren }
        if let item = Syntax(node).as(CodeBlockItemSyntax.self), let reason = cannotLeaveOut(item) {
            if !returnNil(from: item, condition) { find(node, reason) }
            return .skipChildren
        }
        let line = Line(around: node.textRange, in: file.octets)
        wrap(
            node,
            before: (line.isFirst ? "" : "\n\(line.indentation)") + "#if \(condition)\n\(line.indentation)",
            after: "\n\(line.indentation)#endif" + (line.isLast ? "" : "\n\(line.indentation)"))
        return .skipChildren
    }

    /// Why a statement cannot simply be left out on Linux; nil if it can.
    private func cannotLeaveOut(_ item: CodeBlockItemSyntax) -> String? {
        switch item.item {
        case .decl:
            return "this declaration uses a framework that Linux lacks: remove it together with the code that uses it"
        case .stmt(let statement):
            if statement.is(GuardStmtSyntax.self) || statement.is(ReturnStmtSyntax.self) {
                return "this statement uses a framework that Linux lacks: write the result for Linux here"
            }
            return nil
        case .expr: return nil
        }
    }

    /// In a function with an optional result, puts a statement and all that follow behind a condition, and returns nil
    /// on Linux.
    private func returnNil(from item: CodeBlockItemSyntax, _ condition: String) -> Bool {
        guard Syntax(item).returnsOptional, let list = item.parent?.as(CodeBlockItemListSyntax.self),
            let last = list.last
        else { return false }
        let indentation = Line(around: item.textRange, in: file.octets).indentation
        let (start, end) = (item.textRange.lowerBound, last.textRange.upperBound)
        edits.replace(start..<start, with: "#if \(condition)\n\(indentation)")
        edits.replace(
            end..<end, with: "\n\(indentation)#else\n\(indentation)return nil\n\(indentation)#endif")
        hiddenUntil = end
        find(item, "Linux returns nil here, because the value is of a framework that Linux lacks", kind: .behavior)
        return true
    }

    // MARK: Values that Linux has under another name

    private static let values = [
        "UIDevice.current.name": "ProcessInfo.processInfo.hostName",
        "UIDevice.current.systemName": "\"Linux\"",
        "UIDevice.current.model": "\"Linux\"",
        "UIDevice.current.systemVersion": "ProcessInfo.processInfo.operatingSystemVersionString",
        "WKInterfaceDevice.current().name": "ProcessInfo.processInfo.hostName",
        "WKInterfaceDevice.current().systemVersion": "ProcessInfo.processInfo.operatingSystemVersionString",
        "Host.current().localizedName": "ProcessInfo.processInfo.hostName",
        // A program on Linux is never in the background.
        "UIApplication.shared.applicationState == .background": "false",
        "UIApplication.shared.applicationState != .background": "true",
        "UIApplication.shared.applicationState == .active": "true",
        "UIApplication.shared.applicationState != .active": "false",
    ]

    /// Replaces what a statement asks of a framework, on Linux, if all of it has a replacement.
    private func replaceValues(in item: CodeBlockItemSyntax) -> Bool {
        let finder = ValueFinder(Set(Self.values.keys))
        finder.walk(item)
        guard !finder.found.isEmpty else { return false }
        let others = missing.mentioned(in: item, enteringBlocks: false, but: finder.found.map(\.textRange))
        guard others == nil else { return false }
        need("Foundation")
        for node in finder.found {
            edits.replace(
                node.textRange, with: Self.values[node.trimmedDescription] ?? "", onLinuxIn: item.textRange)
        }
        return true
    }
}

extension Syntax {
    /// Whether a statement is in a function or property with an optional result, and not in a closure within it.
    fileprivate var returnsOptional: Bool {
        var node = parent
        while let current = node {
            if current.is(ClosureExprSyntax.self) || current.is(InitializerDeclSyntax.self) { return false }
            if let function = current.as(FunctionDeclSyntax.self) {
                return function.signature.returnClause?.type.is(OptionalTypeSyntax.self) ?? false
            }
            if let binding = current.as(PatternBindingSyntax.self), binding.accessorBlock != nil {
                // A setter has no result.
                guard case .getter? = binding.accessorBlock?.accessors else { return false }
                return binding.typeAnnotation?.type.is(OptionalTypeSyntax.self) ?? false
            }
            node = current.parent
        }
        return false
    }
}

/// Finds expressions by their text.
private final class ValueFinder: SyntaxVisitor {
    private(set) var found: [ExprSyntax] = []
    private let texts: Set<String>

    init(_ texts: Set<String>) {
        self.texts = texts
        super.init(viewMode: .sourceAccurate)
    }

    override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind { look(ExprSyntax(node)) }
    override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind { look(ExprSyntax(node)) }

    private func look(_ node: ExprSyntax) -> SyntaxVisitorContinueKind {
        guard texts.contains(node.trimmedDescription) else { return .visitChildren }
        found.append(node)
        return .skipChildren
    }
}
