import BluetoothATT
import BluetoothBase

/// The GATT client of one bearer: carries out operations one after the other, in the order they were started, with one
/// request in flight (Core 5.4, Vol 3, Part G, 4).
///
/// Every entry point appends at most one PDU to the writer, which may already hold lower layers' headers, and the ends
/// of operations to `events`. It does not handle notifications, indications or requests of the peer.
public struct GATTClient: Sendable {
    /// Names an operation for the client's lifetime.
    public struct OperationID: Hashable, Sendable {
        /// The channel that carries the operation's requests.
        public let channel: AttributeChannel.ID
        /// Its place in the queue, now or earlier.
        let place: UInt16
        let number: UInt32
    }

    /// How many operations may wait behind the one being carried out, by default.
    @inlinable public static var defaultMaximumWaiting: Int { 4096 }

    /// How many operations may wait behind the one being carried out: up to 65,535.
    public let maximumWaiting: Int
    /// The ends of operations, oldest first. The caller takes them out, `keepingCapacity`.
    public var events: [GATTClientEvent] = []

    private let channel: AttributeChannel.ID
    private var waiting = OperationQueue()
    /// The operation of the request in flight. None if it was cancelled.
    private var procedure = ActiveProcedure.none
    /// The operation `procedure` belongs to. Nil if it only cleans up after a cancelled one.
    private var currentID: OperationID?
    private var lastNumber: UInt32 = 0

    /// - Parameter channel: the channel in the identifiers of operations.
    public init(channel: AttributeChannel.ID = .first, maximumWaiting: Int = Self.defaultMaximumWaiting) {
        self.channel = channel
        self.maximumWaiting = min(max(1, maximumWaiting), OperationQueue.maximumCapacity)
    }

    /// How many operations have been started and have not ended.
    public var pendingCount: Int { waiting.count + (currentID == nil ? 0 : 1) }

    // MARK: - The caller's side

    /// Starts an operation, or queues it behind those started before.
    ///
    /// An error in the operation itself, such as a value that is too long, appears in `events` when its turn comes.
    ///
    /// - Throws: `tooManyOperations`, or `transactionTimedOut` if the bearer is dead. No operation is started then.
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

    /// Ends an operation with `cancelled`. A request already sent cannot be recalled: its response is ignored, and the
    /// next operation starts only after it.
    ///
    /// - Returns: Whether there was such an operation.
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

    /// Whether an operation's turn has come: its first request has been sent.
    public func isUnderWay(_ id: OperationID) -> Bool { id == currentID }

    /// Ends every operation with `error`: the link is lost, or the bearer dead.
    ///
    /// - Parameter waitingError: the error of those that have not begun, where it is another one.
    public mutating func failAll(_ error: GATTClientError, waiting waitingError: GATTClientError? = nil) {
        if let currentID { events.append(.failed(currentID, error)) }
        while let (id, _) = waiting.popFirst() { events.append(.failed(id, waitingError ?? error)) }
        currentID = nil
        procedure = .none
    }

    /// Appends a Write Without Response, which waits for nothing (Core 5.4, Vol 3, Part G, 4.9.1).
    ///
    /// - Throws: `valueTooLong` above ATT_MTU less 3 octets, `transactionTimedOut` if the bearer is dead.
    public func writeCommand(
        _ handle: AttributeHandle, value: Span<UInt8>, bearer: ATTBearer, into writer: inout ByteWriter
    ) throws(GATTClientError) {
        guard !bearer.isDead else { throw .transactionTimedOut }
        let maximum = bearer.maximumValueLength(of: .writeCommand)
        guard value.count <= maximum else { throw .valueTooLong(maximum: maximum) }
        WriteCommand(handle: handle, value: value).encode(into: &writer)
    }

    // MARK: - The bearer's side

    /// Takes a response or an error response. One that does not answer the request in flight is ignored.
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

    /// Handles timeouts of the bearer. If a transaction timed out, every operation ends with `transactionTimedOut`. On an
    /// enhanced bearer those that wait end with `notBegun`: the link goes on without that bearer.
    ///
    /// - Returns: What timed out, for the server on the same bearer.
    public mutating func fire(bearer: inout ATTBearer, at now: Instant) -> ATTBearer.Expiry? {
        guard let expiry = bearer.fire(at: now) else { return nil }
        failAll(.transactionTimedOut, waiting: bearer.kind == .enhanced ? .notBegun : nil)
        return expiry
    }

    // MARK: - Procedures

    /// Starts the operations whose turn it is: until one has sent a request, or none is left.
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

    /// Lets the procedure act on `input`: it sends its next request, or the operation ends.
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

    /// What the client itself uses from a result before the caller sees it.
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
