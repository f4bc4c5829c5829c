import BluetoothATT
import BluetoothBase

/// A request that the application must answer before the server can respond.
struct GATTPendingRequest: Equatable, Sendable {
    enum Kind: Equatable, Sendable {
        case read(AttributeHandle)
        case readBlob(AttributeHandle)
        case readByType(AttributeHandle)
        /// The value at `GATTCollectedValues.next`.
        case readMultiple(AttributeHandle)
        case write(AttributeHandle)
        case execute

        /// The opcode that an Error Response names. Read Multiple has two request opcodes.
        func opcode(isVariable: Bool) -> ATTOpcode {
            switch self {
            case .read: .readRequest
            case .readBlob: .readBlobRequest
            case .readByType: .readByTypeRequest
            case .readMultiple: isVariable ? .readMultipleVariableRequest : .readMultipleRequest
            case .write: .writeRequest
            case .execute: .executeWriteRequest
            }
        }

        /// The attribute that an Error Response names.
        var handle: AttributeHandle {
            switch self {
            case .read(let handle), .readBlob(let handle), .readByType(let handle), .readMultiple(let handle),
                .write(let handle):
                handle
            case .execute: 0
            }
        }
    }

    var token: GATTRequestToken
    var deadline: Instant
    var kind: Kind
}

/// The values of a Read Multiple (Variable) Request, collected one by one because the application may have to provide
/// each of them (Core 5.4, Vol 3, Part F, 3.4.4.7 and 3.4.4.11).
struct GATTCollectedValues: Sendable {
    /// Whether each value is preceded by its length.
    var isVariable = false
    /// The requested attributes.
    var handles: [AttributeHandle] = []
    /// The index in `handles` of the next value to collect.
    var next = 0
    /// The parameters of the response so far.
    var writer = ByteWriter()

    /// Starts over, keeping the memory.
    mutating func begin(_ list: HandleList, isVariable: Bool) {
        self.isVariable = isVariable
        handles.removeAll(keepingCapacity: true)
        next = 0
        writer.removeAll()
        var iterator = list.makeIterator()
        while let handle = iterator.next() { handles.append(handle) }
    }

    /// Starts the next value, with its length if the response contains lengths.
    ///
    /// - Parameter limit: The maximum length of all parameters, in octets.
    /// - Returns: The number of octets of the value that fit.
    mutating func beginValue(ofLength length: Int, limit: Int) -> Int {
        next &+= 1
        if isVariable {
            let length = UInt16(clamping: length)
            if writer.count < limit { writer.append(UInt8(truncatingIfNeeded: length)) }
            if writer.count < limit { writer.append(UInt8(truncatingIfNeeded: length >> 8)) }
        }
        return Swift.max(0, limit &- writer.count)
    }

    var opcode: ATTOpcode { isVariable ? .readMultipleVariableRequest : .readMultipleRequest }

    /// Appends the response.
    func encode(into writer: inout ByteWriter) {
        let response: ATTOpcode = isVariable ? .readMultipleVariableResponse : .readMultipleResponse
        writer.append(response.rawValue)
        writer.append(self.writer.span)
    }
}
