import BluetoothATT
import BluetoothBase

/// Discover All Characteristic Descriptors (Core 5.4, Vol 3, Part G, 4.7.1): every attribute of a range, with its type.
struct DescriptorDiscovery: SweepProcedure {
    private var found: [DiscoveredDescriptor] = []
    private var cursor: HandleCursor

    init(in handles: ClosedRange<AttributeHandle>) {
        cursor = HandleCursor(handles)
    }

    var result: GATTClientResult { .descriptors(found) }

    mutating func writeRequest(mtu: Int, into writer: inout ByteWriter) {
        FindInformationRequest(startingHandle: cursor.startingHandle, endingHandle: cursor.endingHandle)
            .encode(into: &writer)
    }

    mutating func receive(_ reader: consuming ByteReader, mtu: Int) throws(GATTClientError) -> ProcedureProgress {
        let response: FindInformationResponse
        do { response = try FindInformationResponse(decoding: reader) } catch { throw .malformed(error) }
        var elements = response.makeIterator()
        while let element = elements.next() {
            try cursor.move(past: element.handle)
            found.append(DiscoveredDescriptor(uuid: element.type, handle: element.handle))
        }
        return cursor.isExhausted ? .finished : .request
    }
}

/// Finds the descriptors of many characteristics in one sweep, which skips the handles known to be something else.
struct DescriptorSweep {
    var found: [DiscoveredDescriptor] = []
    private var cursor: HandleCursor
    /// The first characteristic that may have handles of interest from `cursor.next` on.
    private var current = 0

    /// Nil if no characteristic has room for a descriptor.
    init?(of characteristics: [DiscoveredCharacteristic]) {
        guard let last = characteristics.last(where: { $0.endHandle > $0.valueHandle }) else { return nil }
        cursor = HandleCursor(0x0001...last.endHandle)
        guard let first = handle(from: 1, of: characteristics) else { return nil }
        cursor.skip(to: first)
    }

    mutating func writeRequest(into writer: inout ByteWriter) {
        FindInformationRequest(startingHandle: cursor.startingHandle, endingHandle: cursor.endingHandle)
            .encode(into: &writer)
    }

    mutating func receive(
        _ reader: consuming ByteReader, of characteristics: [DiscoveredCharacteristic]
    ) throws(GATTClientError) -> ProcedureProgress {
        let response: FindInformationResponse
        do { response = try FindInformationResponse(decoding: reader) } catch { throw .malformed(error) }
        var elements = response.makeIterator()
        while let element = elements.next() {
            try cursor.move(past: element.handle)
            let number = Int(element.handle.rawValue)
            if handle(from: number, of: characteristics) == number {
                found.append(DiscoveredDescriptor(uuid: element.type, handle: element.handle))
            }
        }
        guard let next = handle(from: cursor.next, of: characteristics) else { return .finished }
        cursor.skip(to: next)
        return .request
    }

    /// The first handle from `start` on that follows the value of a characteristic and still belongs to it.
    private mutating func handle(from start: Int, of characteristics: [DiscoveredCharacteristic]) -> Int? {
        while current < characteristics.count {
            let candidate = max(start, Int(characteristics[current].valueHandle.rawValue) + 1)
            if candidate <= Int(characteristics[current].endHandle.rawValue) { return candidate }
            current += 1
        }
        return nil
    }
}
