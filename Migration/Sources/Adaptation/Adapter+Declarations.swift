import SwiftSyntax

extension Adapter {
    // MARK: Imports

    func adapt(_ node: ImportDeclSyntax) {
        guard let module = node.path.first?.name.text else { return }
        // `import CoreBluetooth.CBUUID`, a module within a module.
        if module == "CoreBluetooth", node.path.count > 1, node.importKindSpecifier == nil {
            edits.replace(node.path.textRange, with: module)
            return
        }
        guard Modules.isMissing(module) else { return }
        var condition = "#if canImport(\(module))\n"
        if Modules.exportFoundation.contains(module), imports.isDisjoint(with: ["Foundation", "CoreBluetooth"]) {
            // It brought Foundation along.
            condition = "import Foundation\n" + condition
            imports.insert("Foundation")
        }
        switch module {
        case "CryptoKit":
            wrap(node, before: condition, after: "\n#else\nimport Crypto\n#endif")
        case "CommonCrypto" where facts.usesDigests:
            // Only the file that imports it knows where the declarations belong.
            let extras = Self.mentionsCipher(file.text) ? "import CryptoExtras\n" : ""
            wrap(node, before: condition, after: "\n#else\nimport Crypto\n\(extras)#endif")
        default:
            wrap(node, before: condition, after: "\n#endif")
        }
        if !Modules.userInterface.contains(module), !Self.importedForNothing.contains(module), module != "CommonCrypto"
        {
            find(node, "\(module) does not exist on Linux: replace or remove the code that uses it")
        }
    }

    /// What Foundation brings as well, as far as Bluetooth code needs it, or what nothing is needed of.
    private static let importedForNothing: Set<String> = [
        "CoreGraphics", "CryptoKit", "Darwin", "ObjectiveC", "QuartzCore", "Security",
    ]

    private static func mentionsCipher(_ text: String) -> Bool { text.contains("CCCrypt(") }

    /// Puts text on lines of their own around a node.
    func wrap(_ node: some SyntaxProtocol, before: String, after: String) {
        let range = node.textRange
        edits.replace(range.lowerBound..<range.lowerBound, with: before)
        edits.replace(range.upperBound..<range.upperBound, with: after)
    }

    // MARK: Attributes

    private static let forObjectiveC: Set<String> = [
        "objc", "objcMembers", "IBAction", "IBOutlet", "IBInspectable", "IBDesignable", "IBSegueAction",
        "GKInspectable",
    ]

    func adapt(_ node: AttributeSyntax) {
        let name = node.attributeName.trimmedDescription
        guard Self.forObjectiveC.contains(name) else {
            switch name {
            case "Published": noteUse(of: name)
            case "NSManaged": find(node, "there is no Core Data on Linux")
            case "UIApplicationMain", "NSApplicationMain", "NSCopying":
                find(node, "@\(name) needs Objective-C: leave the declaration out, or the attribute")
            default: break
            }
            return
        }
        // Of protocols that get defaults, and of their requirements, it goes for good: a default is Swift's alone.
        let owner = node.ancestor(ProtocolDeclSyntax.self)
        if let owner, facts.openProtocols.contains(owner.name.text) { return }
        if let owner, facts.protocolsWithDefaults.contains(owner.name.text) { return remove(node) }
        if name == "objc", node.arguments == nil, let function = declaration(of: node)?.as(FunctionDeclSyntax.self),
            freed.contains(function.name.text)
        {
            return remove(node)
        }
        hide(node)
    }

    private func declaration(of attribute: AttributeSyntax) -> Syntax? {
        attribute.parent?.as(AttributeListSyntax.self)?.parent
    }

    /// Removes an attribute and the space behind it.
    private func remove(_ node: AttributeSyntax) {
        let range = node.textRange
        let octets = file.octets
        var end = octets[range.upperBound...].firstIndex { !isSpace($0) } ?? octets.count
        if end < octets.count, octets[end] == UInt8(ascii: "\n") {
            // Nothing else was on its line, so the next line's indentation also goes.
            end = octets[(end + 1)...].firstIndex { !isSpace($0) } ?? octets.count
        }
        edits.replace(range.lowerBound..<end, with: "")
    }

    /// Puts an attribute behind a condition, on lines of its own.
    private func hide(_ node: AttributeSyntax) {
        let line = Line(around: node.textRange, in: file.octets)
        let text = String(decoding: file.octets[node.textRange], as: UTF8.self)
        let opening = line.isFirst ? "" : "\n\(line.indentation)"
        edits.replace(
            line.isFirst ? node.textRange.lowerBound..<line.end : line.start..<line.end,
            with: "\(opening)#if canImport(ObjectiveC)\n\(line.indentation)\(text)\n\(line.indentation)#endif"
                + (line.isLast ? "" : "\n\(line.indentation)"))
    }

    // MARK: Classes

    func adapt(_ node: ClassDeclSyntax) {
        addStubs(node)
        addObservers(node)
        let inherited = node.inheritanceClause?.inheritedTypes.map { $0.type.trimmedDescription } ?? []
        // Their members use types of Core Foundation, which has to be imported in Swift 5 mode.
        if inherited.contains(where: ["NSLock", "NSRecursiveLock", "NSCondition", "Foundation.NSLock"].contains) {
            need("CoreFoundation")
        }
    }

    // MARK: Conditions

    /// Of `#if os(iOS) … #elseif os(macOS) … #endif`, Linux takes the branch of macOS: otherwise it would have none.
    func adaptChain(_ node: IfConfigDeclSyntax) {
        let clauses = Array(node.clauses)
        guard clauses.count > 1, !clauses.contains(where: { $0.poundKeyword.tokenKind == .poundElse }),
            !clauses.contains(where: { holdsOnLinux($0.condition) != false })
        else { return }
        let branch = clauses.first { clause in
            clause.condition?.description.contains("os(macOS)") == true
                && clause.condition?.description.contains("!") == false
                && !Self.usesMissingModule(clause)
        }
        guard let condition = branch?.condition else { return }
        let end = condition.textRange.upperBound
        edits.replace(end..<end, with: " || os(Linux)")
    }

    private static func usesMissingModule(_ clause: IfConfigClauseSyntax) -> Bool {
        clause.tokens(viewMode: .sourceAccurate).contains { token in
            guard case .identifier(let name) = token.tokenKind else { return false }
            return Modules.isMissing(name) || !Modules.frameworks(ofType: name).isEmpty
        }
    }

    // MARK: Protocols

    func adapt(_ node: ProtocolDeclSyntax) {
        for inherited in node.inheritanceClause?.inheritedTypes ?? [] {
            if inherited.type.is(ClassRestrictionTypeSyntax.self) {
                edits.replace(inherited.type.textRange, with: "AnyObject")
            }
            if inherited.type.trimmedDescription == "UIApplicationDelegate" { need("CoreBluetooth") }
        }
        // What is Objective-C's is of classes; without it, that has to be said.
        if node.attributes.has("objc"), !facts.openProtocols.contains(node.name.text) {
            let inherited = node.inheritanceClause?.inheritedTypes.map { $0.type.trimmedDescription } ?? []
            if let first = node.inheritanceClause?.inheritedTypes.first {
                if !inherited.contains(where: facts.classBoundProtocols.contains) {
                    let start = first.textRange.lowerBound
                    edits.replace(start..<start, with: "AnyObject, ")
                }
            } else {
                let end = node.name.textRange.upperBound
                edits.replace(end..<end, with: ": AnyObject")
            }
        }
        addDefaults(node)
    }

    /// Optional requirements become ones with defaults.
    private func addDefaults(_ node: ProtocolDeclSyntax) {
        var defaults: [String] = []
        let isAdapted = facts.protocolsWithDefaults.contains(node.name.text)
        for member in node.memberBlock.members {
            guard let declaration = member.decl.asProtocol((any WithModifiersSyntax).self),
                let optional = declaration.modifiers.first(where: { $0.name.tokenKind == .keyword(.optional) })
            else { continue }
            if let text = facts.defaultImplementation(member.decl) {
                guard isAdapted else { continue }
                let start = optional.textRange.lowerBound
                let end = optional.endPosition.utf8Offset
                edits.replace(start..<end, with: "")
                defaults.append(text)
            } else {
                find(
                    member,
                    "an optional requirement needs a default: write one in an extension, remove `@objc optional`, and adapt again"
                )
            }
        }
        guard !defaults.isEmpty else { return }
        let access = node.modifiers.first { ["public", "package", "fileprivate", "private"].contains($0.name.text) }
        let prefix = access.map { $0.name.text == "private" ? "fileprivate " : $0.name.text + " " } ?? ""
        let end = node.textRange.upperBound
        edits.replace(
            end..<end,
            with: "\n\n// What a delegate may leave out.\n\(prefix)extension \(node.name.text) {\n"
                + defaults.map { "    \($0)\n" }.joined() + "}")
    }

    // MARK: Methods that only a subclass implements

    /// Gives a base class the methods that its subclasses add, so that they override them.
    func addStubs(_ node: ClassDeclSyntax) {
        guard let stubs = facts.stubs[node.name.text] else { return }
        let brace = node.memberBlock.rightBrace.textRange
        let line = Line(around: brace, in: file.octets)
        let indentation = Line(around: node.textRange, in: file.octets).indentation
        let comment = "// Overridden in subclasses. On Linux, a subclass cannot add a delegate's method."
        let lines =
            [comment] + stubs.sorted { $0.key < $1.key }.flatMap { $0.value.split(separator: "\n").map(String.init) }
        let text = lines.map { "\(indentation)    \($0)\n" }.joined()
        if line.isFirst {
            // Before the line of the brace.
            let start = lineStart(before: brace.lowerBound)
            edits.replace(start..<start, with: (node.memberBlock.members.isEmpty ? "" : "\n") + text)
        } else {
            edits.replace(brace.lowerBound..<brace.lowerBound, with: "\n\(text)\(indentation)")
        }
    }

    private func lineStart(before position: Int) -> Int {
        file.octets[..<position].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    }

    /// Has a subclass override the method that its base class gets.
    func checkSilentTrap(_ node: FunctionDeclSyntax) {
        guard let type = Syntax(node).enclosingType,
            facts.traps.contains(Facts.Trap(type: type, method: Facts.fullName(node)))
        else { return }
        if node.ancestor(ExtensionDeclSyntax.self) != nil {
            find(
                node,
                "this would never be called on Linux: move it into the class, and adapt again", kind: .behavior)
            return
        }
        let start = node.modifiers.first?.textRange.lowerBound ?? node.funcKeyword.textRange.lowerBound
        edits.replace(start..<start, with: "override ")
    }
}
