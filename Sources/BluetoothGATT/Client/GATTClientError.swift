import BluetoothATT
import BluetoothBase

/// Why an operation of a `GATTClient` failed.
public enum GATTClientError: Error, Equatable, Sendable {
    /// The server refused a request.
    case att(ATTError)
    /// The server answered with something the request does not allow.
    case invalidResponse(InvalidResponse)
    /// The link was lost before the operation ended.
    case disconnected
    /// The channel of the operation was closed after a request of it had been sent, and the link has others. Whether the
    /// server has carried it out is not known.
    case bearerClosed
    /// The channel of the operation was closed before it began, and the link has others: it can be started again.
    case notBegun
    /// The server did not answer within 30 seconds; the bearer can carry no further requests
    /// (Core 5.4, Vol 3, Part F, 3.3.3).
    case transactionTimedOut
    /// The caller cancelled the operation.
    case cancelled
    /// The limit of waiting operations is reached.
    case tooManyOperations
    /// The value is longer than this operation can send, in octets.
    case valueTooLong(maximum: Int)
    /// The request asks for fewer handles than the specification allows, or for more than a PDU holds.
    case invalidHandleCount(allowed: ClosedRange<Int>)

    /// What was wrong with a response.
    public enum InvalidResponse: Equatable, Sendable {
        /// Its bytes are not laid out as the response asks.
        case malformed(DecodingFailure)
        /// A handle lies outside the range asked for, or does not come after the handles before it.
        case unexpectedHandle(AttributeHandle)
        /// A group or characteristic ends before it starts.
        case invalidRange(start: AttributeHandle, end: AttributeHandle)
        /// A declaration's value has a length that none can have, in octets.
        case invalidValueLength(Int)
        /// A prepared write was echoed with another handle, offset or value than was sent.
        case echoMismatch
    }

    static func malformed(_ failure: DecodingFailure) -> GATTClientError { .invalidResponse(.malformed(failure)) }
}
