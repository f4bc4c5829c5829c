import BluetoothBase

extension ATTPDU where Self: ~Escapable {
    public var parameterDescription: String { "" }

    /// The PDU on one line: `ATT_READ_REQ handle 0x0003`.
    public var description: String {
        let parameters = parameterDescription
        return parameters.isEmpty ? Self.opcode.name : "\(Self.opcode.name) \(parameters)"
    }
}

/// A field's name and its octets in hexadecimal; for no octets, `empty`.
private func field(_ name: String, _ bytes: Span<UInt8>) -> String {
    bytes.isEmpty ? "\(name) empty" : "\(name) \(bytes.hexadecimal())"
}

private func field(_ start: AttributeHandle, through end: AttributeHandle) -> String { "handles \(start)...\(end)" }

extension ErrorResponse {
    public var parameterDescription: String { error.description }
}

extension ExchangeMTURequest {
    public var parameterDescription: String { "client Rx MTU \(clientRxMTU)" }
}

extension ExchangeMTUResponse {
    public var parameterDescription: String { "server Rx MTU \(serverRxMTU)" }
}

extension FindInformationRequest {
    public var parameterDescription: String { field(startingHandle, through: endingHandle) }
}

extension FindInformationResponse {
    public var parameterDescription: String {
        var elements: [String] = []
        var iterator = makeIterator()
        while let element = iterator.next() { elements.append("\(element.handle) \(element.type)") }
        return elements.joined(separator: ", ")
    }
}

extension FindByTypeValueRequest {
    public var parameterDescription: String {
        "\(field(startingHandle, through: endingHandle)) type \(BluetoothUUID(attributeType)) "
            + field("value", attributeValue)
    }
}

extension FindByTypeValueResponse {
    public var parameterDescription: String {
        var elements: [String] = []
        var iterator = makeIterator()
        while let element = iterator.next() { elements.append("\(element.foundHandle)...\(element.groupEndHandle)") }
        return elements.joined(separator: ", ")
    }
}

extension ReadByTypeRequest {
    public var parameterDescription: String { "\(field(startingHandle, through: endingHandle)) type \(attributeType)" }
}

extension ReadByTypeResponse {
    public var parameterDescription: String {
        var elements: [String] = []
        var iterator = makeIterator()
        while let element = iterator.next() { elements.append(field("\(element.handle)", element.value)) }
        return elements.joined(separator: ", ")
    }
}

extension ReadByGroupTypeRequest {
    public var parameterDescription: String {
        "\(field(startingHandle, through: endingHandle)) type \(attributeGroupType)"
    }
}

extension ReadByGroupTypeResponse {
    public var parameterDescription: String {
        var elements: [String] = []
        var iterator = makeIterator()
        while let element = iterator.next() {
            elements.append(field("\(element.handle)...\(element.endGroupHandle)", element.value))
        }
        return elements.joined(separator: ", ")
    }
}

extension ReadRequest {
    public var parameterDescription: String { "handle \(handle)" }
}

extension ReadResponse {
    public var parameterDescription: String { field("value", value) }
}

extension ReadBlobRequest {
    public var parameterDescription: String { "handle \(handle) offset \(offset)" }
}

extension ReadBlobResponse {
    public var parameterDescription: String { field("value", value) }
}

extension HandleList {
    /// The handles on one line.
    public var description: String {
        var elements: [String] = []
        var iterator = makeIterator()
        while let handle = iterator.next() { elements.append("\(handle)") }
        return "handles " + elements.joined(separator: ", ")
    }
}

extension ReadMultipleRequest {
    public var parameterDescription: String { handles.description }
}

extension ReadMultipleResponse {
    public var parameterDescription: String { field("values", values) }
}

extension ReadMultipleVariableRequest {
    public var parameterDescription: String { handles.description }
}

extension ReadMultipleVariableResponse {
    public var parameterDescription: String {
        var elements: [String] = []
        var iterator = makeIterator()
        while let element = iterator.next() {
            elements.append(field("value", element.value) + (element.isTruncated ? " of \(element.valueLength)" : ""))
        }
        return elements.joined(separator: ", ")
    }
}

extension WriteRequest {
    public var parameterDescription: String { "handle \(handle) " + field("value", value) }
}

extension WriteCommand {
    public var parameterDescription: String { "handle \(handle) " + field("value", value) }
}

extension SignedWriteCommand {
    public var parameterDescription: String {
        "handle \(handle) " + field("value", value) + " " + field("signature", authenticationSignature)
    }
}

extension PrepareWriteRequest {
    public var parameterDescription: String { "handle \(handle) offset \(offset) " + field("value", value) }
}

extension PrepareWriteResponse {
    public var parameterDescription: String { "handle \(handle) offset \(offset) " + field("value", value) }
}

extension ExecuteWriteRequest {
    public var parameterDescription: String {
        switch flags {
        case .cancel: "cancel"
        case .write: "write"
        }
    }
}

extension HandleValueNotification {
    public var parameterDescription: String { "handle \(handle) " + field("value", value) }
}

extension HandleValueIndication {
    public var parameterDescription: String { "handle \(handle) " + field("value", value) }
}

extension MultipleHandleValueNotification {
    public var parameterDescription: String {
        var elements: [String] = []
        var iterator = makeIterator()
        while let element = iterator.next() { elements.append(element.parameterDescription) }
        return elements.joined(separator: ", ")
    }
}
