import SwiftSyntax

extension Adapter {
    // MARK: Observing an object's own properties

    /// Makes a class observable on Linux: `observe` needs a list of observers, and properties that report changes.
    func addObservers(_ node: ClassDeclSyntax) {
        let name = node.name.text
        guard facts.observableClasses.contains(name) else { return }
        guard !facts.isObservable(superclassOf: name), !node.memberBlock.declares("_observers") else { return }
        need("CoreBluetooth")
        let access = node.modifiers.contains { ["public", "open"].contains($0.name.text) } ? "public " : ""
        let start = node.memberBlock.leftBrace.textRange.upperBound
        let indentation = Line(around: node.textRange, in: file.octets).indentation + "    "
        edits.replace(
            start..<start,
            with: "\n\(indentation)#if !canImport(ObjectiveC)\n"
                + "\(indentation)\(access)let _observers = KeyValueObservers()\n\(indentation)#endif\n")
        // The conformance: `: NSObject, KeyValueObservable` would be for Apple's platforms as well.
        let isPrivate = node.modifiers.contains { ["private", "fileprivate"].contains($0.name.text) }
        let end = node.textRange.upperBound
        if Syntax(node).enclosingType == nil {
            edits.replace(
                end..<end,
                with: "\n\n#if !canImport(ObjectiveC)\nextension \(name): KeyValueObservable {}\n#endif")
        } else {
            conformances.append("extension \(node.qualifiedName): KeyValueObservable {}")
            if isPrivate {
                find(
                    node, "a private class within a type cannot be observed on Linux: declare it at the top of the file"
                )
            }
        }
    }

    /// Has a `dynamic` property report its changes on Linux.
    func addReport(_ node: VariableDeclSyntax) {
        guard node.modifiers.contains(where: { $0.name.tokenKind == .keyword(.dynamic) }),
            let type = Syntax(node).enclosingType,
            facts.observableClasses.contains(type) || facts.isObservable(superclassOf: type),
            node.bindings.count == 1, let binding = node.bindings.first, node.bindingSpecifier.text == "var",
            !node.modifiers.contains(where: { $0.name.tokenKind == .keyword(.lazy) })
        else { return }
        let indentation = Line(around: node.textRange, in: file.octets).indentation
        func report(_ indentation: String) -> String {
            "\(indentation)#if !canImport(ObjectiveC)\n\(indentation)_observers.changed()\n\(indentation)#endif\n"
        }
        guard let block = binding.accessorBlock else {
            let end = binding.textRange.upperBound
            edits.replace(
                end..<end,
                with:
                    " {\n\(indentation)    didSet {\n\(report(indentation + "        "))\(indentation)    }\n\(indentation)}"
            )
            return
        }
        // A computed property stores nothing.
        guard case .accessors(let accessors) = block.accessors,
            accessors.contains(where: { ["didSet", "willSet"].contains($0.accessorSpecifier.text) })
        else { return }
        if let didSet = accessors.first(where: { $0.accessorSpecifier.text == "didSet" }), let body = didSet.body {
            guard !body.description.contains("_observers.changed()") else { return }
            let end = body.rightBrace.textRange.lowerBound
            edits.replace(end..<end, with: "\n\(report(indentation + "        "))\(indentation)    ")
        } else {
            let start = block.leftBrace.textRange.upperBound
            edits.replace(
                start..<start,
                with: "\n\(indentation)    didSet {\n\(report(indentation + "        "))\(indentation)    }\n")
        }
    }

    /// `observe(\.manager?.isScanning)`: on Linux, the call names the objects on the way.
    func adaptObserve(_ node: FunctionCallExprSyntax) {
        guard let path = node.arguments.first?.expression.as(KeyPathExprSyntax.self), node.isOwnObserve else { return }
        need("CoreBluetooth")
        guard !node.arguments.contains(where: { $0.label?.text == "through" }), let statement = node.statement else {
            return
        }
        // `\.a?.b.c` passes through `a` and `a?.b`.
        var texts: [String] = []
        var (current, type) = ("$0", Syntax(node).enclosingType)
        var components = path.components.map { $0 }
        while let last = components.popLast(), last.component.is(KeyPathOptionalComponentSyntax.self) {}
        for component in components {
            if let property = component.component.as(KeyPathPropertyComponentSyntax.self) {
                let name = property.declName.trimmedDescription
                current += "." + name
                type = type.flatMap { facts.propertyType(name, of: $0) }
                if let type, facts.canObserve(type) { texts.append(current) }
            } else if let optional = component.component.as(KeyPathOptionalComponentSyntax.self) {
                current += optional.questionOrExclamationMark.text
            }
        }
        guard !texts.isEmpty, let first = node.arguments.first else { return }
        // The last property's own mark stays within the path.
        let end = first.textRange.upperBound
        let separator = first.trailingComma == nil ? ", " : " "
        edits.replace(
            end..<end,
            with: "\(separator)through: { [\(texts.joined(separator: ", "))] }"
                + (first.trailingComma == nil ? "" : ","),
            onLinuxIn: statement.textRange)
    }
}

extension FunctionCallExprSyntax {
    /// `observe(\.a)` or `self.observe(\.a)`.
    var isOwnObserve: Bool {
        guard arguments.first?.expression.is(KeyPathExprSyntax.self) == true, arguments.first?.label == nil else {
            return false
        }
        if calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text == "observe" { return true }
        guard let member = calledExpression.as(MemberAccessExprSyntax.self), member.declName.baseName.text == "observe"
        else { return false }
        return member.base?.trimmedDescription == "self"
    }
}

extension MemberBlockSyntax {
    /// Whether a member has a name, under any condition.
    func declares(_ name: String) -> Bool {
        members.contains { $0.description.contains(name) && !$0.decl.is(FunctionDeclSyntax.self) }
    }
}

extension ClassDeclSyntax {
    /// The name with those of the types around it.
    var qualifiedName: String {
        var names = [name.text]
        var node = parent
        while let current = node {
            if let name = current.typeName { names.insert(name, at: 0) }
            node = current.parent
        }
        return names.joined(separator: ".")
    }
}
