import SwiftParser
import SwiftSyntax

extension Adapter {
    // MARK: `delegate?.didStop?(…)`

    /// The question mark behind an optional method.
    func adapt(_ node: OptionalChainingExprSyntax) {
        guard let member = node.expression.as(MemberAccessExprSyntax.self) else { return }
        let name = member.declName.baseName.text
        let isCalled = node.parent?.as(FunctionCallExprSyntax.self)?.calledExpression.id == node.id
        let mark = node.questionMark.textRange
        if facts.optionalRequirements.contains(name) {
            // A property is optional still, with its own type.
            if isCalled { edits.replace(mark, with: "") }
        } else if isCalled, Facts.delegateMethods.contains(name), let statement = node.statement {
            // Core Bluetooth's are optional on Apple's platforms, and have defaults here.
            edits.replace(mark, with: "", onLinuxIn: statement.textRange)
        }
    }

    // MARK: Names

    private static let constants = [
        "NSEC_PER_SEC": "UInt64(1_000_000_000)", "NSEC_PER_MSEC": "UInt64(1_000_000)", "NSEC_PER_USEC": "UInt64(1_000)",
        "USEC_PER_SEC": "UInt64(1_000_000)", "MSEC_PER_SEC": "UInt64(1_000)",
    ]

    /// Names of C types that only Apple's headers have.
    private static let renamed = ["__darwin_time_t": "time_t", "__darwin_suseconds_t": "suseconds_t"]

    private static let missing = [
        "NSSelectorFromString": "pass a closure",
        "NSException": "throw a Swift error",
        "DispatchSerialQueue": "use DispatchQueue, which is serial by default",
        "mach_absolute_time": "use DispatchTime.now().uptimeNanoseconds",
        "NSPointerArray": "use NSHashTable.weakObjects()",
        "UndoManager": "keep a list of closures",
        "RelativeDateTimeFormatter": "write the text yourself",
        "MeasurementFormatter": "use formatted(), or write the unit yourself",
        "DateComponentsFormatter": "use Duration.formatted()",
        "OSAtomicIncrement32": "use Atomic of Synchronization",
        "OSSpinLock": "use os_unfair_lock",
    ]

    func adapt(_ node: DeclReferenceExprSyntax) {
        let name = node.baseName.text
        // Of `x.NSEC_PER_SEC`, the base is what counts.
        if let member = node.parent?.as(MemberAccessExprSyntax.self), member.declName.id == node.id, member.base != nil
        {
            return
        }
        if let constant = Self.constants[name] {
            edits.replace(node.baseName.textRange, with: constant)
        } else if let other = Self.renamed[name] {
            edits.replace(node.baseName.textRange, with: other)
        } else if name.hasPrefix("PTHREAD_MUTEX_"),
            node.parent?.parent?.parent?.isCall(of: "pthread_mutexattr_settype") == true
        {
            // Of another integer type on Linux.
            edits.replace(node.baseName.textRange, with: "Int32(\(name))")
        } else if let cure = Self.missing[name] {
            if !facts.declaredTypes.contains(name) { find(node, "there is no \(name) on Linux: \(cure)") }
        } else if CommonCrypto.isOwn(name) {
            useCommonCrypto(name, node)
        } else {
            noteUse(of: name)
        }
    }

    private func useCommonCrypto(_ name: String, _ node: some SyntaxProtocol) {
        guard !facts.declaredTypes.contains(name), imports.contains("CommonCrypto") || imports.contains("Crypto") else {
            return
        }
        if CommonCrypto.provides(name) {
            if !file.text.contains("// CommonCrypto's functions, with swift-crypto.") { commonCrypto.insert(name) }
        } else {
            find(
                node,
                "\(name) of CommonCrypto does not exist on Linux: use swift-crypto (Crypto, or CryptoExtras for AES-CBC)"
            )
        }
    }

    func adapt(_ node: IdentifierTypeSyntax) {
        if ["CFAbsoluteTime", "CFTimeInterval"].contains(node.name.text), !facts.declaredTypes.contains(node.name.text)
        {
            edits.replace(node.name.textRange, with: "TimeInterval")
        } else if let other = Self.renamed[node.name.text] {
            edits.replace(node.name.textRange, with: other)
        } else if node.name.text == "Selector" {
            find(node, "there is no Selector on Linux: take a closure")
        } else if let cure = Self.missing[node.name.text] {
            if !facts.declaredTypes.contains(node.name.text) {
                find(node, "there is no \(node.name.text) on Linux: \(cure)")
            }
        } else if CommonCrypto.isOwn(node.name.text) {
            useCommonCrypto(node.name.text, node)
        } else {
            noteUse(of: node.name.text)
        }
    }

    /// Functions that have another name on Linux, or none.
    func adaptFunction(_ node: FunctionCallExprSyntax, _ name: String?) {
        guard node.calledExpression.is(DeclReferenceExprSyntax.self), let name else { return }
        let arguments = node.arguments.map { $0.expression.trimmedDescription }
        switch (name, arguments.count) {
        case ("CFAbsoluteTimeGetCurrent", 0):
            edits.replace(node.textRange, with: "Date().timeIntervalSinceReferenceDate")
        case ("CACurrentMediaTime", 0): edits.replace(node.textRange, with: "ProcessInfo.processInfo.systemUptime")
        case ("arc4random", 0): edits.replace(node.textRange, with: "UInt32.random(in: .min ... .max)")
        case ("arc4random_uniform", 1):
            edits.replace(node.textRange, with: "UInt32.random(in: 0..<UInt32(\(arguments[0])))")
        // The initializer without a capacity is missing.
        case ("NSMutableString", 0): edits.replace(node.textRange, with: "NSMutableString(string: \"\")")
        case ("Selector", 1): find(node, "there is no Selector on Linux: pass a closure")
        default: break
        }
    }

    // MARK: `error as CVarArg`

    /// An object for `%@`: on Linux only some can be formatted, and their descriptions can.
    func adapt(_ node: AsExprSyntax) {
        guard node.questionOrExclamationMark == nil, node.type.trimmedDescription.hasSuffix("CVarArg"),
            let argument = node.parent?.as(LabeledExprSyntax.self),
            let list = argument.parent?.as(LabeledExprListSyntax.self)
        else { return }
        let format = list.first { $0.expression.is(StringLiteralExprSyntax.self) }
        guard let format, let specifiers = Self.specifiers(format.expression), let first = list.index(of: format),
            let own = list.index(of: argument)
        else {
            return find(
                node, "as CVarArg: only numbers and objects of Core Bluetooth are, on Linux; use String(describing:)")
        }
        // Arguments without a label follow the format, but for those of `os_log`, which stand between.
        let values = list[list.index(after: first)...].filter { $0.label == nil }
        let position = values.firstIndex { $0.id == list[own].id }.map {
            values.distance(from: values.startIndex, to: $0)
        }
        guard let position, position < specifiers.count else { return }
        if specifiers[position] == "@" {
            edits.replace(node.textRange, with: "String(describing: \(node.expression.trimmedDescription))")
        }
    }

    /// The conversions of a format: `@`, `d`.
    private static func specifiers(_ expression: ExprSyntax) -> [Character]? {
        guard let text = expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue else { return nil }
        var (found, rest): ([Character], Substring) = ([], text[...])
        while let percent = rest.firstIndex(of: "%") {
            rest = rest[rest.index(after: percent)...]
            if rest.first == "%" {
                rest.removeFirst()
                continue
            }
            if rest.first == "{", let end = rest.firstIndex(of: "}") { rest = rest[rest.index(after: end)...] }
            rest = rest.drop { "-+ #0123456789.*hlqLztj".contains($0) }
            guard let kind = rest.popFirst() else { break }
            found.append(kind)
        }
        return found
    }
}

extension Syntax {
    /// Whether a node is a call of a function.
    func isCall(of name: String) -> Bool {
        self.as(FunctionCallExprSyntax.self)?.calledExpression.trimmedDescription == name
    }
}
