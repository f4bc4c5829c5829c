import BluetoothATT
import BluetoothBase

/// The GATT client of one bearer. It runs operations one at a time, in the order they were started, with one request in
/// flight (Core 5.4, Vol 3, Part G, 4).
///
/// Every entry point appends at most one PDU to the writer, which may already hold the headers of lower layers, and
/// reports finished operations in `events`. The client does not handle notifications, indications or requests from the
/// peer.
public struct GATTClient: Sendable {
    /// Identifies an operation for the client's lifetime.
    public struct OperationID: Hashable, Sendable {
        /// The channel that carries the operation's requests.
        public let channel: AttributeChannel.ID
        /// The operation's place in the queue, current or former.
        let place: UInt16
        let number: UInt32
    }

    /// The default maximum number of operations that wait behind the current one.
    @inlinable public static var defaultMaximumWaiting: Int { 4096 }

    /// The maximum number of operations that wait behind the current one, up to 65,535.
    public let maximumWaiting: Int
    /// Finished operations, oldest first. The caller removes them, `keepingCapacity`.
    public var events: [GATTClientEvent] = []

    private let channel: AttributeChannel.ID
    private var waiting = OperationQueue()
    /// The procedure whose request is in flight. `none` if it was cancelled and has nothing to clean up.
    private var procedure = ActiveProcedure.none
    /// The operation that `procedure` belongs to. Nil if the procedure only cleans up after a cancelled operation.
    private var currentID: OperationID?
    private var lastNumber: UInt32 = 0

    /// Creates a client without operations.
    ///
    /// - Parameter channel: The channel named in the identifiers of operations.
    public init(channel: AttributeChannel.ID = .first, maximumWaiting: Int = Self.defaultMaximumWaiting) {
        self.channel = channel
        self.maximumWaiting = min(max(1, maximumWaiting), OperationQueue.maximumCapacity)
    }

    /// The number of operations that have been started and have not ended.
    public var pendingCount: Int { waiting.count + (currentID == nil ? 0 : 1) }

    // MARK: - The caller's side

    /// Starts an operation, or queues it behind earlier ones.
    ///
    /// An error in the operation itself, such as a value that is too long, is reported in `events` when the operation's
    /// turn comes.
    ///
    /// - Throws: `tooManyOperations`, or `transactionTimedOut` if the bearer is dead. The operation is not started
    ///   then.
    public mutating func start(
        _ operation: GATTClientOperation, bearer: inout ATTBearer, at now: Instant, into writer: inout ByteWriter
    ) throws(GATTClientError) -> OperationID {
        guard !bearer.isDead else { throw .transactionTimedOut }
        guard waiting.count < maximumWaiting else { throw .tooManyOperations }
        lastNumber &+= 1
        let id = waiting.append(operation, on: channel, number: lastNumber)
        startWaiting(bearer: &bearer, at: now, into: &writer)
        return id
    }

    /// Ends an operation with `cancelled`. A request that was already sent cannot be recalled: its response is ignored,
    /// and the next operation starts only after it.
    ///
    /// - Returns: Whether the operation was pending.
    @discardableResult
    public mutating func cancel(_ id: OperationID) -> Bool {
        if id == currentID {
            currentID = nil
            if !procedure.cancel() { procedure = .none }
        } else if waiting.remove(id) == nil {
            return false
        }
        events.append(.failed(id, .cancelled))
        return true
    }

    /// Whether an operation has begun: its first request has been sent.
    public func isUnderWay(_ id: OperationID) -> Bool { id == currentID }

    /// Ends every operation with `error`, because the link was lost or the bearer is dead.
    ///
    /// - Parameter waitingError: The error of the operations that have not begun, if it is a different one.
    public mutating func failAll(_ error: GATTClientError, waiting waitingError: GATTClientError? = nil) {
        if let currentID { events.append(.failed(currentID, error)) }
        while let (id, _) = waiting.popFirst() { events.append(.failed(id, waitingError ?? error)) }
        currentID = nil
        procedure = .none
    }

    /// Appends a Write Without Response. It does not wait for pending operations (Core 5.4, Vol 3, Part G, 4.9.1).
    ///
    /// - Throws: `valueTooLong` if the value exceeds ATT_MTU - 3 octets, `transactionTimedOut` if the bearer is dead.
    public func writeCommand(
        _ handle: AttributeHandle, value: Span<UInt8>, bearer: ATTBearer, into writer: inout ByteWriter
    ) throws(GATTClientError) {
        guard !bearer.isDead else { throw .transactionTimedOut }
        let maximum = bearer.maximumValueLength(of: .writeCommand)
        guard value.count <= maximum else { throw .valueTooLong(maximum: maximum) }
        WriteCommand(handle: handle, value: value).encode(into: &writer)
    }

    // MARK: - The bearer's side

    /// Handles a response or an error response. A PDU that does not answer the request in flight is ignored.
    public mutating func receive(
        _ pdu: Span<UInt8>, bearer: inout ATTBearer, at now: Instant, into writer: inout ByteWriter
    ) {
        var reader = ByteReader(pdu)
        guard let byte = try? reader.readUInt8(), let opcode = ATTOpcode(rawValue: byte) else { return }
        if opcode == .errorResponse {
            guard let error = try? ErrorResponse(decoding: reader).error, bearer.completeRequest(with: error) != nil
            else { return }
            step(.error(error), bearer: &bearer, at: now, into: &writer)
        } else {
            guard bearer.completeRequest(with: opcode) != nil else { return }
            let excess = pdu.count &- bearer.mtu
            if excess > 0 {
                end(.failure(.malformed(DecodingFailure(.trailingBytes(count: excess), at: bearer.mtu))))
            } else {
                step(.response(reader), bearer: &bearer, at: now, into: &writer)
            }
        }
        startWaiting(bearer: &bearer, at: now, into: &writer)
    }

    /// Handles timeouts of the bearer. If a transaction timed out, every operation ends with `transactionTimedOut`. On
    /// an enhanced bearer, waiting operations end with `notBegun` instead, because the link continues without that
    /// bearer.
    ///
    /// - Returns: The transaction that timed out, for the server on the same bearer.
    public mutating func fire(bearer: inout ATTBearer, at now: Instant) -> ATTBearer.Expiry? {
        guard let expiry = bearer.fire(at: now) else { return nil }
        failAll(.transactionTimedOut, waiting: bearer.kind == .enhanced ? .notBegun : nil)
        return expiry
    }

    // MARK: - Procedures

    /// Starts waiting operations until one has sent a request or none is left.
    private mutating func startWaiting(bearer: inout ATTBearer, at now: Instant, into writer: inout ByteWriter) {
        while bearer.isReadyForRequest, let next = waiting.popFirst() {
            currentID = next.id
            if case .exchangeMTU = next.operation, !bearer.allowsMTUExchange || bearer.isMTUExchanged {
                end(.success(.mtu(bearer.mtu)))
            } else {
                procedure = ActiveProcedure(next.operation)
                step(.start, bearer: &bearer, at: now, into: &writer)
            }
        }
    }

    /// Passes `input` to the procedure, which either sends its next request or ends the operation.
    private mutating func step(
        _ input: consuming ProcedureInput, bearer: inout ATTBearer, at now: Instant, into writer: inout ByteWriter
    ) {
        let start = writer.count
        do throws(GATTClientError) {
            if let result = try procedure.step(input, mtu: bearer.mtu, into: &writer) {
                end(.success(apply(result, to: &bearer)))
            } else if writer.count > start, let opcode = ATTOpcode(rawValue: writer[start]) {
                do { try bearer.beginRequest(opcode, at: now) } catch { throw .transactionTimedOut }
            }
        } catch {
            writer.truncate(to: start)
            end(.failure(error))
        }
    }

    /// Applies the part of a result that concerns the client itself before the caller sees it.
    private func apply(_ result: GATTClientResult, to bearer: inout ATTBearer) -> GATTClientResult {
        guard case .mtu(let mtu) = result else { return result }
        bearer.exchangeMTU(clientRxMTU: UInt16(clamping: mtu), serverRxMTU: UInt16(clamping: mtu))
        return .mtu(bearer.mtu)
    }

    /// Ends the current operation.
    private mutating func end(_ outcome: Result<GATTClientResult, GATTClientError>) {
        procedure = .none
        guard let id = currentID else { return }
        currentID = nil
        switch outcome {
        case .success(let result): events.append(.completed(id, result))
        case .failure(let error): events.append(.failed(id, error))
        }
    }
}
