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
            find(node, "swift-crypto stands in for CryptoKit: add the product Crypto of apple/swift-crypto")
        default:
            wrap(node, before: condition, after: "\n#endif")
        }
        if !Modules.userInterface.contains(module), !Self.importedForNothing.contains(module) {
            find(node, "there is no \(module) on Linux: what is used of it has to be replaced or left out")
        }
    }

    /// What Foundation brings as well, as far as Bluetooth code needs it, or what nothing is needed of.
    private static let importedForNothing: Set<String> = [
        "CoreGraphics", "CryptoKit", "Darwin", "ObjectiveC", "QuartzCore",
    ]

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
            // It had a line of its own: so goes the indentation of the next one.
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

    // MARK: Protocols

    func adapt(_ node: ProtocolDeclSyntax) {
        for inherited in node.inheritanceClause?.inheritedTypes ?? [] {
            if inherited.type.is(ClassRestrictionTypeSyntax.self) {
                edits.replace(inherited.type.textRange, with: "AnyObject")
            }
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

    // MARK: The one silent trap

    /// A delegate's method that a subclass adds is not called: which one meets the requirement is settled where the
    /// conformance is declared.
    func checkSilentTrap(_ node: FunctionDeclSyntax) {
        guard Facts.delegateMethods.contains(node.name.text), let type = Syntax(node).enclosingType,
            let declared = facts.classes[type],
            !node.modifiers.contains(where: { $0.name.tokenKind == .keyword(.override) }),
            !declared.inherits.contains(where: Facts.delegateProtocols.contains),
            declared.inherits.contains(where: { facts.isDelegate($0) })
        else { return }
        find(
            node,
            "this would never be called: the base class conforms, and does not have the method. "
                + "Declare it there, and override it")
    }
}
