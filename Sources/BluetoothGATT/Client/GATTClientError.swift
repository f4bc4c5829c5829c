import BluetoothATT
import BluetoothBase

/// Why an operation of a `GATTClient` failed.
@nonexhaustive
public enum GATTClientError: Error, Equatable, Sendable {
    /// The server refused a request.
    case att(ATTError)
    /// The server's response is not valid for the request.
    case invalidResponse(InvalidResponse)
    /// The link was lost before the operation ended.
    case disconnected
    /// The operation's channel was closed after one of its requests had been sent; the link has other channels. Whether
    /// the server carried out the request is unknown.
    case bearerClosed
    /// The operation's channel was closed before the operation began; the link has other channels. It can be started
    /// again.
    case notBegun
    /// The server did not respond within 30 seconds. The bearer can carry no further requests (Core 5.4, Vol 3, Part F,
    /// 3.3.3).
    case transactionTimedOut
    /// The caller cancelled the operation.
    case cancelled
    /// The maximum number of waiting operations is reached.
    case tooManyOperations
    /// The value is longer than the `maximum` octets that this operation can send.
    case valueTooLong(maximum: Int)
    /// The request has fewer handles than the specification requires, or more than fit in a PDU.
    case invalidHandleCount(allowed: ClosedRange<Int>)

    /// Why a response is invalid.
    @nonexhaustive
    public enum InvalidResponse: Equatable, Sendable {
        /// The bytes do not have the layout of the response.
        case malformed(DecodingFailure)
        /// A handle is outside the requested range, or does not come after the handles before it.
        case unexpectedHandle(AttributeHandle)
        /// A group or characteristic ends before it starts.
        case invalidRange(start: AttributeHandle, end: AttributeHandle)
        /// A value has a length that is not valid there, in octets.
        case invalidValueLength(Int)
        /// The server's echo of a prepared write has another handle, offset or value than was sent.
        case echoMismatch
    }

    static func malformed(_ failure: DecodingFailure) -> GATTClientError { .invalidResponse(.malformed(failure)) }
}
