import BluetoothATT
import BluetoothBase

/// The next step of a procedure.
enum ProcedureProgress {
    /// The procedure has another request to send.
    case request
    /// The procedure has its result.
    case finished
}

/// The input of a procedure.
enum ProcedureInput: ~Escapable {
    case start
    /// The response to the last request: a reader positioned after the opcode.
    case response(ByteReader)
    /// The error response to the last request.
    case error(ATTError)
}

/// One procedure of the GATT client: a sequence of requests, each derived from earlier responses.
///
/// The caller sends one request, then passes in its response or its error response. A procedure that throws has ended.
protocol ClientProcedure: Sendable {
    /// Appends the next request.
    mutating func writeRequest(mtu: Int, into writer: inout ByteWriter) throws(GATTClientError)

    /// Handles the response to the last request. The reader is positioned after the opcode.
    mutating func receive(_ response: consuming ByteReader, mtu: Int) throws(GATTClientError) -> ProcedureProgress

    /// Handles the error response to the last request.
    mutating func receive(_ error: ATTError) throws(GATTClientError) -> ProcedureProgress

    /// The result of the procedure, once it is finished.
    var result: GATTClientResult { get }
}

extension ClientProcedure {
    /// Handles `input`: appends the next request, or returns the result.
    mutating func step(
        _ input: consuming ProcedureInput, mtu: Int, into writer: inout ByteWriter
    ) throws(GATTClientError) -> GATTClientResult? {
        let progress: ProcedureProgress
        switch input {
        case .start: progress = .request
        case .response(let response): progress = try receive(response, mtu: mtu)
        case .error(let error): progress = try receive(error)
        }
        if progress == .finished { return result }
        try writeRequest(mtu: mtu, into: &writer)
        return nil
    }

    mutating func receive(_ error: ATTError) throws(GATTClientError) -> ProcedureProgress {
        throw .att(error)
    }
}

/// A procedure that walks through a range of handles until the server has no more.
protocol SweepProcedure: ClientProcedure {}

extension SweepProcedure {
    /// A server ends a sweep with Attribute Not Found.
    mutating func receive(_ error: ATTError) throws(GATTClientError) -> ProcedureProgress {
        guard error.code == .attributeNotFound else { throw .att(error) }
        return .finished
    }
}

/// The handles that remain in a sweep.
///
/// Its fields are wider than a handle, because the range may end at 0xFFFF. The cursor only moves forward, so no server
/// can keep a procedure running forever.
struct HandleCursor {
    private(set) var next: Int
    private(set) var end: Int

    init(_ handles: ClosedRange<AttributeHandle>) {
        next = Int(handles.lowerBound.rawValue)
        end = Int(handles.upperBound.rawValue)
    }

    var isExhausted: Bool { next > end }
    var startingHandle: AttributeHandle { AttributeHandle(UInt16(clamping: next)) }
    var endingHandle: AttributeHandle { AttributeHandle(UInt16(clamping: end)) }

    /// Moves past an attribute or a group in a response.
    mutating func move(past first: AttributeHandle, through last: AttributeHandle) throws(GATTClientError) {
        guard Int(first.rawValue) >= next, Int(first.rawValue) <= end else {
            throw .invalidResponse(.unexpectedHandle(first))
        }
        guard last >= first else { throw .invalidResponse(.invalidRange(start: first, end: last)) }
        guard Int(last.rawValue) <= end else { throw .invalidResponse(.unexpectedHandle(last)) }
        next = Int(last.rawValue) + 1
    }

    /// Moves past one attribute.
    mutating func move(past handle: AttributeHandle) throws(GATTClientError) {
        try move(past: handle, through: handle)
    }

    /// Skips handles that are of no interest.
    mutating func skip(to handle: Int) {
        next = max(next, handle)
    }
}
