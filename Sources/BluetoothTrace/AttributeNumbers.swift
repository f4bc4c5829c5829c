import BluetoothATT
import BluetoothBase

extension PacketDescription.Attribute {
    /// Extracts the numbers of a decoded PDU.
    init(_ message: borrowing ATTMessage) {
        self.init(opcode: message.opcode)
        switch message {
        case .errorResponse(let pdu): error = pdu.error
        case .exchangeMTURequest(let pdu): rxMTU = pdu.clientRxMTU
        case .exchangeMTUResponse(let pdu): rxMTU = pdu.serverRxMTU
        case .findInformationRequest(let pdu): setRange(pdu.startingHandle, pdu.endingHandle)
        case .findInformationResponse(let pdu):
            var elements = pdu.makeIterator()
            while let element = elements.next() { handles.append(element.handle) }
        case .findByTypeValueRequest(let pdu):
            setRange(pdu.startingHandle, pdu.endingHandle)
            valueLengths = [pdu.attributeValue.count]
        case .findByTypeValueResponse(let pdu):
            var elements = pdu.makeIterator()
            while let element = elements.next() {
                handles.append(element.foundHandle)
                groupEndHandles.append(element.groupEndHandle)
            }
        case .readByTypeRequest(let pdu): setRange(pdu.startingHandle, pdu.endingHandle)
        case .readByTypeResponse(let pdu):
            elementLength = pdu.elementLength
            var elements = pdu.makeIterator()
            while let element = elements.next() { append(element.handle, element.value) }
        case .readRequest(let pdu): handles = [pdu.handle]
        case .readResponse(let pdu): valueLengths = [pdu.value.count]
        case .readBlobRequest(let pdu): (handles, offset) = ([pdu.handle], pdu.offset)
        case .readBlobResponse(let pdu): valueLengths = [pdu.value.count]
        case .readMultipleRequest(let pdu): append(pdu.handles)
        case .readMultipleResponse(let pdu): valueLengths = [pdu.values.count]
        case .readByGroupTypeRequest(let pdu): setRange(pdu.startingHandle, pdu.endingHandle)
        case .readByGroupTypeResponse(let pdu):
            elementLength = pdu.elementLength
            var elements = pdu.makeIterator()
            while let element = elements.next() {
                append(element.handle, element.value)
                groupEndHandles.append(element.endGroupHandle)
            }
        case .writeRequest(let pdu): append(pdu.handle, pdu.value)
        case .prepareWriteRequest(let pdu):
            append(pdu.handle, pdu.value)
            offset = pdu.offset
        case .prepareWriteResponse(let pdu):
            append(pdu.handle, pdu.value)
            offset = pdu.offset
        case .handleValueNotification(let pdu): append(pdu.handle, pdu.value)
        case .handleValueIndication(let pdu): append(pdu.handle, pdu.value)
        case .readMultipleVariableRequest(let pdu): append(pdu.handles)
        case .readMultipleVariableResponse(let pdu):
            var elements = pdu.makeIterator()
            while let element = elements.next() { valueLengths.append(element.value.count) }
        case .multipleHandleValueNotification(let pdu):
            var elements = pdu.makeIterator()
            while let element = elements.next() { append(element.handle, element.value) }
        case .writeCommand(let pdu): append(pdu.handle, pdu.value)
        case .signedWriteCommand(let pdu): append(pdu.handle, pdu.value)
        case .writeResponse, .executeWriteRequest, .executeWriteResponse, .handleValueConfirmation, .unknown: break
        }
    }

    private mutating func setRange(_ start: AttributeHandle, _ end: AttributeHandle) {
        (startingHandle, endingHandle) = (start, end)
    }

    private mutating func append(_ handle: AttributeHandle, _ value: Span<UInt8>) {
        handles.append(handle)
        valueLengths.append(value.count)
    }

    private mutating func append(_ list: borrowing HandleList) {
        var iterator = list.makeIterator()
        while let handle = iterator.next() { handles.append(handle) }
    }
}
