import SwiftSyntax

/// What `#selector(…)` names.
struct Selector {
    /// The name alone.
    let name: String
    /// The labels, where they are said.
    let labels: [String]?
    /// The type, where it is said.
    let type: String?

    init?(_ node: MacroExpansionExprSyntax) {
        guard node.macroName.text == "selector", node.arguments.count == 1,
            let expression = node.arguments.first?.expression
        else { return nil }
        let reference: DeclReferenceExprSyntax
        if let member = expression.as(MemberAccessExprSyntax.self) {
            reference = member.declName
            let base = member.base?.trimmedDescription
            type = base == "self" || base == "Self" ? nil : base
        } else if let plain = expression.as(DeclReferenceExprSyntax.self) {
            reference = plain
            type = nil
        } else {
            return nil
        }
        name = reference.baseName.text
        labels = reference.argumentNames?.arguments.map(\.name.text)
    }
}

/// `Timer.scheduledTimer(timeInterval:target:selector:userInfo:repeats:)`, or `Timer(…)`.
struct TimerCall {
    let callee: String
    let interval: ExprSyntax
    let target: ExprSyntax
    let selector: Selector
    let userInfo: ExprSyntax
    let repeats: ExprSyntax
    /// When the timer fires first, in `Timer(fireAt:interval:target:selector:userInfo:repeats:)`.
    let fireDate: ExprSyntax?
    var isScheduled: Bool { callee.hasSuffix("scheduledTimer") }

    init?(_ call: FunctionCallExprSyntax) {
        callee = call.calledExpression.trimmedDescription
        guard
            [
                "Timer.scheduledTimer", "Timer", "Timer.init", "Foundation.Timer.scheduledTimer", "Foundation.Timer",
            ].contains(callee)
        else {
            return nil
        }
        let arguments = Dictionary(
            call.arguments.map { ($0.label?.text ?? "_", $0.expression) }, uniquingKeysWith: { first, _ in first })
        fireDate = arguments["fireAt"] ?? arguments["fire"]
        guard call.arguments.count == (fireDate == nil ? 5 : 6),
            let interval = arguments["timeInterval"] ?? arguments["interval"], let target = arguments["target"],
            let macro = arguments["selector"]?.as(MacroExpansionExprSyntax.self), let selector = Selector(macro),
            let userInfo = arguments["userInfo"], let repeats = arguments["repeats"]
        else { return nil }
        (self.interval, self.target, self.selector) = (interval, target, selector)
        (self.userInfo, self.repeats) = (userInfo, repeats)
    }
}

extension Adapter {
    /// A call of a method by its selector, within a closure: `self?.tick($0)`.
    ///
    /// - Parameter argument: what the method is passed if it takes anything.
    func invocation(_ selector: Selector, on target: String, argument: String, from node: some SyntaxProtocol) -> (
        text: String, usesArgument: Bool
    )? {
        let methods = facts.methods[selector.type ?? Syntax(node).enclosingType ?? ""]
        // Methods with the same name differ in their labels.
        let fullName = selector.labels.map { "\(selector.name)(\($0.map { $0 + ":" }.joined()))" }
        let method = fullName.flatMap { methods?[$0] } ?? methods?[selector.name]
        guard let labels = method?.labels ?? selector.labels, labels.count <= 1 else { return nil }
        guard let label = labels.first else { return ("\(target).\(selector.name)()", false) }
        let prefix = label == "_" ? "" : "\(label): "
        return ("\(target).\(selector.name)(\(prefix)\(argument))", true)
    }

    /// The name of a target in a closure that does not keep it, and how it is captured.
    func captured(_ target: ExprSyntax) -> (name: String, capture: String)? {
        guard let reference = target.as(DeclReferenceExprSyntax.self) else { return nil }
        // A type, or `self` in a static method or a structure, is not released.
        if reference.baseName.text.first?.isUppercase == true { return (reference.baseName.text, "") }
        if reference.baseName.text == "self", Syntax(target).isInStaticMember { return ("self", "") }
        return ("\(reference.baseName.text)?", "[weak \(reference.baseName.text)]")
    }

    /// Whether a call was rewritten as a whole.
    func adapt(_ node: FunctionCallExprSyntax) -> Bool {
        if let timer = TimerCall(node) { return adapt(timer, node) }
        let name =
            node.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text
            ?? node.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text
        switch name {
        case "addObserver": return adaptObserver(node)
        case "perform", "performSelector": return adaptPerform(node)
        case "autoreleasepool" where node.trailingClosure != nil && node.arguments.isEmpty:
            needsAutoreleasepool = true
        case "cancelPreviousPerformRequests":
            find(node, "there is no such thing as perform(_:with:afterDelay:) on Linux: cancel a DispatchWorkItem")
            return true
        case "removeObserver":
            let isOfSelf =
                node.arguments.first.map { $0.label == nil && $0.expression.trimmedDescription == "self" } ?? false
            if isOfSelf, node.ancestor(DeinitializerDeclSyntax.self) == nil,
                facts.observers.contains(Syntax(node).enclosingType ?? "")
            {
                find(
                    node,
                    "on Linux blocks observe: keep the token that addObserver(forName:…) returns, and remove that",
                    kind: .behavior)
            }
        case "responds":
            find(node, "responds(to:) needs Objective-C: methods of delegates have defaults on Linux, so call them")
            return true
        case "observe": adaptObserve(node)
        case "Timer", "init": adaptBlockTimer(node)
        default: adaptFunction(node, name)
        }
        return false
    }

    private func adapt(_ timer: TimerCall, _ node: FunctionCallExprSyntax) -> Bool {
        guard let (target, capture) = captured(timer.target),
            timer.selector.type == nil || timer.target.trimmedDescription == "self",
            let call = invocation(timer.selector, on: target, argument: "$timer", from: node)
        else {
            find(node, "a timer with a selector: use the form with a block")
            return true
        }
        let name = call.usesArgument ? "timer" : "_"
        let body = call.text.replacing("$timer", with: "timer")
        let closure = "{ \(capture.isEmpty ? "" : capture + " ")\(name) in \(body) }"
        let (interval, repeats) = (timer.interval.trimmedDescription, timer.repeats.trimmedDescription)
        // A method without a parameter cannot ask the timer for it.
        if !timer.userInfo.is(NilLiteralExprSyntax.self), call.usesArgument {
            guard let statement = node.statement, timer.fireDate == nil else {
                find(node, "a timer with a block has no userInfo: capture the value in the block")
                return true
            }
            need("CoreBluetooth")
            let function = timer.isScheduled ? "Timer.scheduledTimer" : "Timer.timer"
            edits.replace(
                node.textRange,
                with: "\(function)(timeInterval: \(interval), userInfo: \(timer.userInfo.trimmedDescription), "
                    + "repeats: \(repeats)) \(closure)",
                onLinuxIn: statement.textRange)
            return true
        }
        let times =
            if let date = timer.fireDate {
                "fire: \(date.trimmedDescription), interval: \(interval)"
            } else if timer.isScheduled {
                "withTimeInterval: \(interval)"
            } else {
                firing(after: interval)
            }
        edits.replace(node.textRange, with: "\(timer.callee)(\(times), repeats: \(repeats)) \(closure)")
        return true
    }

    /// Gives `Timer(timeInterval: 2, repeats: false) { … }` a date: on Linux, Foundation's timers without one fire for
    /// the first time at once.
    private func adaptBlockTimer(_ node: FunctionCallExprSyntax) {
        guard ["Timer", "Timer.init", "Foundation.Timer"].contains(node.calledExpression.trimmedDescription),
            let first = node.arguments.first, let label = first.label, label.text == "timeInterval",
            node.arguments.dropFirst().first?.label?.text == "repeats"
        else { return }
        edits.replace(
            label.textRange.lowerBound..<first.expression.textRange.upperBound,
            with: firing(after: first.expression.trimmedDescription))
    }

    private func firing(after interval: String) -> String {
        "fire: Date(timeIntervalSinceNow: \(interval)), interval: \(interval)"
    }

    /// `addObserver(self, selector: #selector(stop), name: .ended, object: nil)`
    private func adaptObserver(_ node: FunctionCallExprSyntax) -> Bool {
        let arguments = Array(node.arguments)
        if arguments.contains(where: { $0.label?.text == "forKeyPath" }) {
            find(node, "key-value observing of this kind needs Objective-C: use observe(\\.…), @Published or a closure")
            return true
        }
        guard arguments.count == 4, arguments.map({ $0.label?.text }) == [nil, "selector", "name", "object"],
            let macro = arguments[1].expression.as(MacroExpansionExprSyntax.self), let selector = Selector(macro)
        else { return false }
        guard let statement = node.statement, let (target, capture) = captured(arguments[0].expression),
            let call = invocation(selector, on: target, argument: "notification", from: node),
            let center = node.calledExpression.as(MemberAccessExprSyntax.self)?.base?.trimmedDescription
        else {
            find(node, "an observer with a selector: use the form with a block")
            return true
        }
        let name = call.usesArgument ? "notification" : "_"
        let isStatement = statement.item.textRange == node.textRange
        edits.replace(
            node.textRange,
            with: (isStatement ? "_ = " : "")
                + "\(center).addObserver(forName: \(arguments[2].expression.trimmedDescription), "
                + "object: \(arguments[3].expression.trimmedDescription), queue: nil) { \(capture) \(name) in \(call.text) }",
            onLinuxIn: statement.textRange)
        return true
    }

    /// `perform(#selector(tick), with: nil, afterDelay: 1)`
    private func adaptPerform(_ node: FunctionCallExprSyntax) -> Bool {
        let arguments = Array(node.arguments)
        guard let macro = arguments.first?.expression.as(MacroExpansionExprSyntax.self),
            macro.macroName.text == "selector"
        else { return false }
        let labels = arguments.map { $0.label?.text ?? "_" }.map { $0 == "onMainThread" ? "_" : $0 }
        let base = node.calledExpression.as(MemberAccessExprSyntax.self)?.base
        let target = base ?? ExprSyntax(DeclReferenceExprSyntax(baseName: .identifier("self")))
        guard let selector = Selector(macro), let statement = node.statement, !facts.cancelsPerforms,
            let (name, capture) = captured(target)
        else {
            find(node, "perform needs Objective-C: use DispatchQueue, with a work item where it is cancelled")
            return true
        }
        let object = arguments.first { $0.label?.text == "with" }?.expression.trimmedDescription ?? "nil"
        guard let call = invocation(selector, on: name, argument: object, from: node) else {
            find(node, "perform needs Objective-C: call the method")
            return true
        }
        let direct =
            invocation(selector, on: target.trimmedDescription, argument: object, from: node)?.text ?? call.text
        let text: String
        switch labels {
        case ["_"], ["_", "with"]: text = direct
        case ["_", "with", "afterDelay"]:
            let delay = arguments[2].expression.trimmedDescription
            text = "DispatchQueue.main.asyncAfter(deadline: .now() + \(delay)) { \(capture) in \(call.text) }"
        case ["_", "with", "waitUntilDone"] where arguments[2].expression.trimmedDescription == "false":
            text = "DispatchQueue.main.async { \(capture) in \(call.text) }"
        default:
            find(node, "perform needs Objective-C: use DispatchQueue")
            return true
        }
        edits.replace(node.textRange, with: text, onLinuxIn: statement.textRange)
        return true
    }
}
