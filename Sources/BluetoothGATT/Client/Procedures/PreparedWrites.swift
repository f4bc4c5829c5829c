import BluetoothATT
import BluetoothBase

/// Write Long Characteristic Values (Core 5.4, Vol 3, Part G, 4.9.4) and Reliable Writes (4.9.5): parts are queued at
/// the server, then written together.
///
/// If anything goes wrong before that, the client empties the queue, so that the next execution does not write
/// leftovers.
struct PreparedWrites: ClientProcedure {
    private enum Stage {
        case preparing, executing
        /// The error that made the client empty the queue.
        case cancelling(GATTClientError)
    }

    private let values: [AttributeValue]
    /// The offset of the first octet of each value.
    private let startOffset: Int
    /// Whether the server's echo of each part is compared with the request.
    private let isReliable: Bool
    private var stage = Stage.preparing
    private var index = 0
    private var offset = 0
    /// The number of octets of the current value in the last request.
    private var partLength = 0
    private var hasQueued = false
    /// Why the queue must be emptied once the request in flight has been answered.
    private var cause: GATTClientError?

    init(_ values: [AttributeValue], startOffset: UInt16 = 0, isReliable: Bool) {
        self.values = values
        self.startOffset = Int(startOffset)
        self.isReliable = isReliable
    }

    var result: GATTClientResult { .written }

    mutating func writeRequest(mtu: Int, into writer: inout ByteWriter) throws(GATTClientError) {
        switch stage {
        case .preparing:
            let maximum = max(ValueRead.maximumLength - startOffset, 0)
            guard values.allSatisfy({ $0.value.count <= maximum }) else { throw .valueTooLong(maximum: maximum) }
            guard index < values.count else { throw .invalidHandleCount(allowed: 1...Int.max) }
            let value = values[index].value
            partLength = min(mtu - 5, value.count - offset)
            let part = value.span.extracting(offset..<offset + partLength)
            PrepareWriteRequest(
                handle: values[index].handle, offset: UInt16(clamping: startOffset + offset), value: part
            ).encode(into: &writer)
        case .executing: ExecuteWriteRequest(.write).encode(into: &writer)
        case .cancelling: ExecuteWriteRequest(.cancel).encode(into: &writer)
        }
    }

    mutating func receive(_ reader: consuming ByteReader, mtu: Int) throws(GATTClientError) -> ProcedureProgress {
        switch stage {
        case .preparing:
            hasQueued = true
            do throws(GATTClientError) { try check(reader) } catch { cause = cause ?? error }
            if let cause { stage = .cancelling(cause) } else { advance() }
            return .request
        case .executing:
            do { _ = try ExecuteWriteResponse(decoding: reader) } catch { throw .malformed(error) }
            return .finished
        case .cancelling(let error): throw error
        }
    }

    mutating func receive(_ error: ATTError) throws(GATTClientError) -> ProcedureProgress {
        switch stage {
        case .preparing where hasQueued:
            stage = .cancelling(cause ?? .att(error))
            return .request
        case .preparing, .executing: throw .att(error)
        case .cancelling(let cause): throw cause
        }
    }

    /// Cancels while a request is in flight. Queued parts are removed after its response. Values that are already being
    /// written are still written.
    mutating func cancel() {
        cause = .cancelled
    }

    private func check(_ reader: consuming ByteReader) throws(GATTClientError) {
        let response: PrepareWriteResponse
        do { response = try PrepareWriteResponse(decoding: reader) } catch { throw .malformed(error) }
        guard isReliable else { return }
        let value = values[index].value
        let part = value.span.extracting(offset..<offset + partLength)
        var isEqual =
            response.handle == values[index].handle && Int(response.offset) == startOffset + offset
            && response.value.count == part.count
        for position in part.indices where isEqual { isEqual = response.value[position] == part[position] }
        guard isEqual else { throw .invalidResponse(.echoMismatch) }
    }

    private mutating func advance() {
        offset += partLength
        guard offset >= values[index].value.count else { return }
        offset = 0
        index += 1
        if index == values.count { stage = .executing }
    }
}
