import SwiftSyntax

extension Facts {
    /// What an optional requirement does where it is left out; nil where that cannot be told.
    func defaultImplementation(_ declaration: DeclSyntax) -> String? {
        if let function = declaration.as(FunctionDeclSyntax.self) {
            let name = "func \(function.name.text)\(function.genericParameterClause?.trimmedDescription ?? "")"
            let signature = oneLine(function.signature)
            guard let result = function.signature.returnClause?.type else { return "\(name)\(signature) {}" }
            if result.trimmedDescription == "Void" || result.trimmedDescription == "()" {
                return "\(name)\(signature) {}"
            }
            if isOptional(result) { return "\(name)\(signature) { nil }" }
            // What all callers take for it, if they agree.
            guard let answers = answers[function.name.text], answers.count == 1, let answer = answers.first,
                answer != "?"
            else { return nil }
            return "\(name)\(signature) { \(answer) }"
        }
        if let variable = declaration.as(VariableDeclSyntax.self), variable.bindings.count == 1,
            let binding = variable.bindings.first, let type = binding.typeAnnotation?.type, isOptional(type)
        {
            let isSettable = binding.accessorBlock?.trimmedDescription.contains("set") ?? false
            let body = isSettable ? "get { nil } set {}" : "nil"
            return "var \(binding.pattern.trimmedDescription): \(type.trimmedDescription) { \(body) }"
        }
        return nil
    }

    private func isOptional(_ type: TypeSyntax) -> Bool {
        type.is(OptionalTypeSyntax.self) || type.trimmedDescription.hasPrefix("Optional<")
    }

    func oneLine(_ node: some SyntaxProtocol) -> String {
        node.trimmedDescription.split(whereSeparator: \.isNewline)
            .map { $0.drop { $0 == " " || $0 == "\t" } }.joined(separator: " ")
            .replacing("( ", with: "(").replacing(" )", with: ")")
    }
}
