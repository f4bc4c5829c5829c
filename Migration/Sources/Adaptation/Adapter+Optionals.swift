import SwiftSyntax

extension Adapter {
    // MARK: Properties that newer SDKs have made optional

    /// What newer SDKs return as an optional, by type and property.
    private static let optionals = [
        "CBCharacteristic": ["service": "CBService"], "CBMutableCharacteristic": ["service": "CBService"],
        "CBDescriptor": ["characteristic": "CBCharacteristic"],
        "CBMutableDescriptor": ["characteristic": "CBCharacteristic"],
        "CBService": ["peripheral": "CBPeripheral"], "CBMutableService": ["peripheral": "CBPeripheral"],
    ]

    /// Unwraps `characteristic.service` in `characteristic.service.uuid`.
    func unwrapOptional(_ node: MemberAccessExprSyntax) {
        guard let outer = node.parent?.as(MemberAccessExprSyntax.self), outer.base?.id == node.id,
            let type = coreBluetoothType(of: node.base), Self.optionals[type]?[node.declName.baseName.text] != nil
        else { return }
        let end = node.textRange.upperBound
        edits.replace(end..<end, with: "!")
    }

    /// A program on Linux has no bundle identifier: `Bundle.main.bundleIdentifier!` would end it.
    func replaceBundleIdentifier(_ node: ForceUnwrapExprSyntax) {
        guard node.expression.trimmedDescription == "Bundle.main.bundleIdentifier" else { return }
        edits.replace(
            node.textRange, with: "(Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName)")
    }

    /// The class of Core Bluetooth that an expression has, as far as declarations state it.
    private func coreBluetoothType(of expression: ExprSyntax?) -> String? {
        if let reference = expression?.as(DeclReferenceExprSyntax.self) {
            return Syntax(reference).declaredType(of: reference.baseName.text)
        }
        if let access = expression?.as(MemberAccessExprSyntax.self) {
            return coreBluetoothType(of: access.base).flatMap { Self.optionals[$0]?[access.declName.baseName.text] }
        }
        if let forced = expression?.as(ForceUnwrapExprSyntax.self) { return coreBluetoothType(of: forced.expression) }
        return nil
    }
}

extension Syntax {
    /// The type that the nearest parameter or local constant of a name states.
    fileprivate func declaredType(of name: String) -> String? {
        var node = parent
        while let current = node {
            if let block = current.as(CodeBlockItemListSyntax.self) {
                for item in block {
                    for binding in item.item.as(VariableDeclSyntax.self)?.bindings ?? []
                    where binding.pattern.trimmedDescription == name {
                        return binding.typeAnnotation?.type.trimmedDescription
                    }
                }
            }
            if let signature = current.as(FunctionDeclSyntax.self)?.signature
                ?? current.as(InitializerDeclSyntax.self)?.signature
            {
                for parameter in signature.parameterClause.parameters
                where (parameter.secondName ?? parameter.firstName).text == name {
                    return parameter.type.trimmedDescription
                }
            }
            if case .parameterClause(let clause)? = current.as(ClosureExprSyntax.self)?.signature?.parameterClause {
                for parameter in clause.parameters where (parameter.secondName ?? parameter.firstName).text == name {
                    return parameter.type?.trimmedDescription
                }
            }
            node = current.parent
        }
        return nil
    }
}
