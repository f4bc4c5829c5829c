import BluetoothATT
import BluetoothBase

/// Discover All Characteristics of a Service (Core 5.4, Vol 3, Part G, 4.6.1), or those of one UUID (4.6.2).
///
/// A characteristic ends where the next one begins, whatever its UUID, so all are discovered in either case.
struct CharacteristicDiscovery: SweepProcedure {
    /// The UUID to find; nil for all characteristics.
    let uuid: BluetoothUUID?
    var found: [DiscoveredCharacteristic] = []
    private var cursor: HandleCursor

    init(in handles: ClosedRange<AttributeHandle>, uuid: BluetoothUUID? = nil) {
        self.uuid = uuid
        cursor = HandleCursor(handles)
    }

    var result: GATTClientResult {
        guard let uuid else { return .characteristics(found) }
        return .characteristics(found.filter { $0.uuid == uuid })
    }

    /// Continues with another range, after the one swept.
    mutating func sweep(_ handles: ClosedRange<AttributeHandle>) {
        cursor = HandleCursor(handles)
    }

    mutating func writeRequest(mtu: Int, into writer: inout ByteWriter) {
        ReadByTypeRequest(
            startingHandle: cursor.startingHandle, endingHandle: cursor.endingHandle, attributeType: .characteristic
        ).encode(into: &writer)
    }

    mutating func receive(_ reader: consuming ByteReader, mtu: Int) throws(GATTClientError) -> ProcedureProgress {
        let response: ReadByTypeResponse
        do { response = try ReadByTypeResponse(decoding: reader) } catch { throw .malformed(error) }
        let uuidLength = Int(response.elementLength) - 5
        guard uuidLength == 2 || uuidLength == 16 else {
            throw .invalidResponse(.invalidValueLength(uuidLength + 3))
        }
        var elements = response.makeIterator()
        while let element = elements.next() {
            var characteristic: DiscoveredCharacteristic
            do { characteristic = try Self.decode(element, uuidLength: uuidLength) } catch { throw .malformed(error) }
            characteristic.endHandle = cursor.endingHandle
            try append(characteristic)
        }
        // Another characteristic needs two more handles, for its declaration and its value.
        let lastValue = found.last.map { Int($0.valueHandle.rawValue) } ?? 0
        return lastValue + 2 > cursor.end ? .finished : .request
    }

    private mutating func append(_ characteristic: DiscoveredCharacteristic) throws(GATTClientError) {
        let declaration = characteristic.declarationHandle, value = characteristic.valueHandle
        try cursor.move(past: declaration)
        guard value > declaration, value <= cursor.endingHandle else {
            throw .invalidResponse(.unexpectedHandle(value))
        }
        if let last = found.indices.last {
            guard declaration > found[last].valueHandle else {
                throw .invalidResponse(.unexpectedHandle(declaration))
            }
            found[last].endHandle = min(found[last].endHandle, AttributeHandle(declaration.rawValue &- 1))
        }
        found.append(characteristic)
    }

    private static func decode(
        _ element: borrowing ReadByTypeResponse.Element, uuidLength: Int
    ) throws(DecodingFailure) -> DiscoveredCharacteristic {
        var value = ByteReader(element.value)
        let properties = GATTCharacteristicProperties(rawValue: try value.readUInt8())
        let valueHandle = try value.readHandle()
        return DiscoveredCharacteristic(
            uuid: try value.readUUID(length: uuidLength), declarationHandle: element.handle, valueHandle: valueHandle,
            endHandle: valueHandle, properties: properties)
    }
}
