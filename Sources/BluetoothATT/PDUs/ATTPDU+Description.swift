import BluetoothBase

extension ATTPDU where Self: ~Escapable {
    /// The default for a PDU without parameters: the empty string.
    public var parameterDescription: String { "" }

    /// The PDU on one line, for example `ATT_READ_REQ handle 0x0003`.
    public var description: String {
        let parameters = parameterDescription
        return parameters.isEmpty ? Self.opcode.name : "\(Self.opcode.name) \(parameters)"
    }
}

/// A field's name and its octets in hexadecimal, or `empty` if it has none.
private func field(_ name: String, _ bytes: Span<UInt8>) -> String {
    bytes.isEmpty ? "\(name) empty" : "\(name) \(bytes.hexadecimal())"
}

private func field(_ start: AttributeHandle, through end: AttributeHandle) -> String { "handles \(start)...\(end)" }

extension ErrorResponse {
    /// The refused request and the reason, such as `ATT_READ_REQ handle 0x0003: Read Not Permitted (0x02)`.
    public var parameterDescription: String { error.description }
}

extension ExchangeMTURequest {
    /// The client's receive MTU in octets, such as `client Rx MTU 517`.
    public var parameterDescription: String { "client Rx MTU \(clientRxMTU)" }
}

extension ExchangeMTUResponse {
    /// The server's receive MTU in octets, such as `server Rx MTU 517`.
    public var parameterDescription: String { "server Rx MTU \(serverRxMTU)" }
}

extension FindInformationRequest {
    /// The range of handles, such as `handles 0x0001...0xFFFF`.
    public var parameterDescription: String { field(startingHandle, through: endingHandle) }
}

extension FindInformationResponse {
    /// The handle and the type of each attribute, such as `0x0003 2A00, 0x0004 2902`.
    public var parameterDescription: String {
        var elements: [String] = []
        var iterator = makeIterator()
        while let element = iterator.next() { elements.append("\(element.handle) \(element.type)") }
        return elements.joined(separator: ", ")
    }
}

extension FindByTypeValueRequest {
    /// The range of handles, the type and the value, such as `handles 0x0001...0xFFFF type 2800 value 0F 18`.
    public var parameterDescription: String {
        "\(field(startingHandle, through: endingHandle)) type \(BluetoothUUID(attributeType)) "
            + field("value", attributeValue)
    }
}

extension FindByTypeValueResponse {
    /// The range of handles of each group, such as `0x0001...0x0005, 0x0010...0x0014`.
    public var parameterDescription: String {
        var elements: [String] = []
        var iterator = makeIterator()
        while let element = iterator.next() { elements.append("\(element.foundHandle)...\(element.groupEndHandle)") }
        return elements.joined(separator: ", ")
    }
}

extension ReadByTypeRequest {
    /// The range of handles and the type, such as `handles 0x0001...0xFFFF type 2803`.
    public var parameterDescription: String { "\(field(startingHandle, through: endingHandle)) type \(attributeType)" }
}

extension ReadByTypeResponse {
    /// The handle and the value of each attribute, such as `0x0003 48 69, 0x0005 empty`.
    public var parameterDescription: String {
        var elements: [String] = []
        var iterator = makeIterator()
        while let element = iterator.next() { elements.append(field("\(element.handle)", element.value)) }
        return elements.joined(separator: ", ")
    }
}

extension ReadByGroupTypeRequest {
    /// The range of handles and the group type, such as `handles 0x0001...0xFFFF type 2800`.
    public var parameterDescription: String {
        "\(field(startingHandle, through: endingHandle)) type \(attributeGroupType)"
    }
}

extension ReadByGroupTypeResponse {
    /// The range of handles and the value of each group, such as `0x0001...0x0005 00 18`.
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
    /// The handle, such as `handle 0x0003`.
    public var parameterDescription: String { "handle \(handle)" }
}

extension ReadResponse {
    /// The value in hexadecimal, such as `value 48 69`, or `value empty`.
    public var parameterDescription: String { field("value", value) }
}

extension ReadBlobRequest {
    /// The handle and the offset in octets, such as `handle 0x0003 offset 22`.
    public var parameterDescription: String { "handle \(handle) offset \(offset)" }
}

extension ReadBlobResponse {
    /// The part of the value in hexadecimal, such as `value 48 69`, or `value empty`.
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
    /// The requested handles, such as `handles 0x0003, 0x0005`.
    public var parameterDescription: String { handles.description }
}

extension ReadMultipleResponse {
    /// The concatenated values in hexadecimal, such as `values 48 69 01`.
    public var parameterDescription: String { field("values", values) }
}

extension ReadMultipleVariableRequest {
    /// The requested handles, such as `handles 0x0003, 0x0005`.
    public var parameterDescription: String { handles.description }
}

extension ReadMultipleVariableResponse {
    /// Each value in hexadecimal; a truncated one is followed by its full length, as in `value 48 69 of 30`.
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
    /// The handle and the value, such as `handle 0x0003 value 48 69`.
    public var parameterDescription: String { "handle \(handle) " + field("value", value) }
}

extension WriteCommand {
    /// The handle and the value, such as `handle 0x0003 value 48 69`.
    public var parameterDescription: String { "handle \(handle) " + field("value", value) }
}

extension SignedWriteCommand {
    /// The handle, the value and the signature, such as `handle 0x0003 value 48 69 signature 01 00…`.
    public var parameterDescription: String {
        "handle \(handle) " + field("value", value) + " " + field("signature", authenticationSignature)
    }
}

extension PrepareWriteRequest {
    /// The handle, the offset in octets and the part, such as `handle 0x0003 offset 18 value 48 69`.
    public var parameterDescription: String { "handle \(handle) offset \(offset) " + field("value", value) }
}

extension PrepareWriteResponse {
    /// The handle, the offset in octets and the part, such as `handle 0x0003 offset 18 value 48 69`.
    public var parameterDescription: String { "handle \(handle) offset \(offset) " + field("value", value) }
}

extension ExecuteWriteRequest {
    /// The flag as a word: `cancel` or `write`.
    public var parameterDescription: String {
        switch flags {
        case .cancel: "cancel"
        case .write: "write"
        }
    }
}

extension HandleValueNotification {
    /// The handle and the value, such as `handle 0x0003 value 48 69`.
    public var parameterDescription: String { "handle \(handle) " + field("value", value) }
}

extension HandleValueIndication {
    /// The handle and the value, such as `handle 0x0003 value 48 69`.
    public var parameterDescription: String { "handle \(handle) " + field("value", value) }
}

extension MultipleHandleValueNotification {
    /// Each notification, such as `handle 0x0003 value 48 69, handle 0x0005 value 01`.
    public var parameterDescription: String {
        var elements: [String] = []
        var iterator = makeIterator()
        while let element = iterator.next() { elements.append(element.parameterDescription) }
        return elements.joined(separator: ", ")
    }
}
