import SwiftSyntax

extension Facts {
    /// A delegate method that only a subclass implements. Apple's frameworks find it; on Linux, the conformance of the
    /// base class does not.
    struct Trap: Hashable {
        let type: String
        let method: String
    }

    /// The protocols with methods that may be left out.
    private func optionalMethods(of protocolName: String) -> ((String, String) -> Bool)? {
        if Self.delegateProtocols.contains(protocolName) { return { name, _ in Self.delegateMethods.contains(name) } }
        guard let names = optionalMethodNames[protocolName] else { return nil }
        return { _, fullName in names.contains(fullName) }
    }

    /// The class in which the conformance is declared that a method of a class would meet.
    private func conformer(of type: String, _ name: String, _ fullName: String) -> String? {
        var current = type
        for _ in 0..<32 {
            guard let declared = classes[current] else { return nil }
            if declared.inherits.contains(where: { optionalMethods(of: $0)?(name, fullName) ?? false }) {
                return current
            }
            guard let next = declared.inherits.first(where: { isClass[$0] == true }) else { return nil }
            current = next
        }
        return nil
    }

    /// The classes above one, nearest first.
    private func superclasses(of type: String) -> [String] {
        var (found, current): ([String], String) = ([], type)
        while found.count < 32, let next = classes[current]?.inherits.first(where: { isClass[$0] == true }),
            !found.contains(next)
        {
            found.append(next)
            current = next
        }
        return found
    }

    /// Finds the traps, and the methods that base classes need so that subclasses can override them.
    mutating func findTraps() {
        for (type, declared) in classes.sorted(by: { $0.key < $1.key }) where isClass[type] == true {
            for (fullName, method) in declared.bodies.sorted(by: { $0.key < $1.key }) where !method.overrides {
                let name = String(fullName.prefix { $0 != "(" })
                guard let base = conformer(of: type, name, fullName), base != type else { continue }
                let above = superclasses(of: type)
                let known = above.prefix(through: above.firstIndex(of: base) ?? above.startIndex)
                guard !known.contains(where: { classes[$0]?.bodies[fullName] != nil }) else { continue }
                guard let text = stub(method.node, in: base) else { continue }
                traps.insert(Trap(type: type, method: fullName))
                stubs[base, default: [:]][fullName] = text
            }
        }
    }

    /// A method that does what happens if it is missing; nil if that is not known.
    private func stub(_ node: FunctionDeclSyntax, in base: String) -> String? {
        let names = node.signature.parameterClause.parameters.map { ($0.secondName ?? $0.firstName).text }
        let labels = node.signature.parameterClause.parameters.map(\.firstName.text)
        let isShort = "centralManager(_:didDisconnectPeripheral:error:)"
        var body = "{}"
        switch labels {
        case ["_", "didDisconnectPeripheral", "timestamp", "isReconnecting", "error"]
        where classes[base]?.bodies[isShort] != nil:
            body =
                "{\n    centralManager(\(names[0]), didDisconnectPeripheral: \(names[1]), error: \(names[4]))\n}"
        case ["_", "didReceiveRead"]:
            body = "{\n    \(names[0]).respond(to: \(names[1]), withResult: .requestNotSupported)\n}"
        case ["_", "didReceiveWrite"]:
            body =
                "{\n    if let first = \(names[1]).first { \(names[0]).respond(to: first, withResult: .requestNotSupported) }\n}"
        default: break
        }
        let result = node.signature.returnClause?.type.trimmedDescription
        if let result, result != "Void", result != "()" {
            guard let answer = answer(for: node) else { return nil }
            body = "{ \(answer) }"
        }
        let access = publicClasses.contains(base) ? "public " : ""
        let generics = node.genericParameterClause?.trimmedDescription ?? ""
        return "\(access)func \(node.name.text)\(generics)\(oneLine(node.signature)) \(body)"
    }

    /// What an adapted optional requirement returns if it is left out.
    private func answer(for node: FunctionDeclSyntax) -> String? {
        guard let text = defaultImplementation(DeclSyntax(node)), let start = text.lastIndex(of: "{") else {
            return nil
        }
        return text[text.index(after: start)...].dropLast().trimmed
    }
}

extension Substring {
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
