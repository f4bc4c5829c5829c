import BluetoothATT
import BluetoothBase

/// Discover All Primary Services (Core 5.4, Vol 3, Part G, 4.4.1), or those of one UUID (4.4.2), or all secondary ones.
struct ServiceDiscovery: SweepProcedure {
    /// The UUID to find; nil for all services.
    let uuid: BluetoothUUID?
    private let arePrimary: Bool
    var found: [DiscoveredService] = []
    private var cursor = HandleCursor(0x0001...0xFFFF)

    init(uuid: BluetoothUUID? = nil) {
        self.uuid = uuid
        arePrimary = true
    }

    /// Discovers all primary services, or all secondary ones.
    init(arePrimary: Bool) {
        uuid = nil
        self.arePrimary = arePrimary
    }

    var result: GATTClientResult { .services(found) }

    mutating func writeRequest(mtu: Int, into writer: inout ByteWriter) {
        if let uuid {
            FindByTypeValueRequest.begin(into: &writer)
            writer.append(cursor.startingHandle)
            writer.append(cursor.endingHandle)
            writer.append(UInt16(0x2800))
            writer.append(uuid)
        } else {
            ReadByGroupTypeRequest(
                startingHandle: cursor.startingHandle, endingHandle: cursor.endingHandle,
                attributeGroupType: arePrimary ? .primaryService : .secondaryService
            ).encode(into: &writer)
        }
    }

    mutating func receive(_ response: consuming ByteReader, mtu: Int) throws(GATTClientError) -> ProcedureProgress {
        if let uuid { try appendGroups(of: uuid, response) } else { try appendGroups(response) }
        return cursor.isExhausted ? .finished : .request
    }

    private mutating func appendGroups(_ reader: consuming ByteReader) throws(GATTClientError) {
        let response: ReadByGroupTypeResponse
        do { response = try ReadByGroupTypeResponse(decoding: reader) } catch { throw .malformed(error) }
        let uuidLength = Int(response.elementLength) - 4
        guard uuidLength == 2 || uuidLength == 16 else { throw .invalidResponse(.invalidValueLength(uuidLength)) }
        var elements = response.makeIterator()
        while let element = elements.next() {
            var value = ByteReader(element.value)
            let uuid: BluetoothUUID
            do { uuid = try value.readUUID(length: uuidLength) } catch { throw .malformed(error) }
            try append(uuid, element.handle, element.endGroupHandle)
        }
    }

    private mutating func appendGroups(
        of uuid: BluetoothUUID, _ reader: consuming ByteReader
    ) throws(GATTClientError) {
        let response: FindByTypeValueResponse
        do { response = try FindByTypeValueResponse(decoding: reader) } catch { throw .malformed(error) }
        var elements = response.makeIterator()
        while let element = elements.next() {
            try append(uuid, element.foundHandle, element.groupEndHandle)
        }
    }

    private mutating func append(
        _ uuid: BluetoothUUID, _ start: AttributeHandle, _ end: AttributeHandle
    ) throws(GATTClientError) {
        try cursor.move(past: start, through: end)
        found.append(DiscoveredService(uuid: uuid, startHandle: start, endHandle: end, isPrimary: arePrimary))
    }
}
