import BluetoothATT
import BluetoothBase

/// A whole PDU. If it decodes, it encodes to the same bytes, and has no more elements than fit into it.
func fuzzAttribute(_ bytes: Span<UInt8>) throws(FuzzViolation) {
    guard let message = try? ATTMessage(decoding: bytes) else { return }
    var writer = ByteWriter()
    message.encode(into: &writer)
    try require(writer.bytes == Array(bytes), "\(message.description) changes")
    try require(message.opcode == bytes[0], "another opcode")
    try require(!message.description.isEmpty, "no description")
    var elements = 0
    switch message {
    case .findInformationResponse(let response):
        var iterator = response.makeIterator()
        while iterator.next() != nil { elements += 1 }
    case .findByTypeValueResponse(let response):
        var iterator = response.makeIterator()
        while iterator.next() != nil { elements += 1 }
    case .readByTypeResponse(let response):
        var iterator = response.makeIterator()
        while let element = iterator.next() {
            elements += 1
            try require(element.value.count == Int(response.elementLength) - 2, "a value of another length")
        }
    case .readByGroupTypeResponse(let response):
        var iterator = response.makeIterator()
        while iterator.next() != nil { elements += 1 }
    case .multipleHandleValueNotification(let notification):
        var iterator = notification.makeIterator()
        while iterator.next() != nil { elements += 1 }
    case .readMultipleVariableResponse(let response):
        var iterator = response.makeIterator()
        while iterator.next() != nil { elements += 1 }
    default: return
    }
    try require(elements <= bytes.count / 2, "\(elements) elements in \(bytes.count) octets")
}
