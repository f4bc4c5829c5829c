import BluetoothATT
import BluetoothBase
import BluetoothGATT
import TestSupport

/// A small attribute server that a client under test talks to. Written against the specification alone, so that it does
/// not share a misunderstanding with the package's own server.
struct ScriptedServer {
    struct Attribute {
        var handle: UInt16
        var type: BluetoothUUID
        var value: [UInt8]
        var groupEnd: UInt16
    }

    private(set) var attributes: [Attribute] = []
    /// How many requests have been answered.
    private(set) var requests = 0

    mutating func add(_ type: BluetoothUUID, _ value: [UInt8] = [], at handle: UInt16? = nil) -> UInt16 {
        let next = handle ?? (attributes.last?.handle ?? 0) + 1
        attributes.append(Attribute(handle: next, type: type, value: value, groupEnd: next))
        return next
    }

    /// Adds a service that lasts to the last attribute `content` adds, or to `end`.
    mutating func addService(
        _ uuid: BluetoothUUID, isPrimary: Bool = true, at handle: UInt16? = nil, end: UInt16? = nil,
        _ content: (inout ScriptedServer) -> Void = { _ in }
    ) {
        let index = attributes.count
        _ = add(isPrimary ? .primaryService : .secondaryService, written { $0.append(uuid) }, at: handle)
        content(&self)
        attributes[index].groupEnd = end ?? attributes[attributes.count - 1].handle
    }

    mutating func addInclude(_ start: UInt16, _ end: UInt16, _ uuid: BluetoothUUID) {
        _ = add(
            .include,
            written {
                $0.append(start)
                $0.append(end)
                if let short = uuid.uint16 { $0.append(short) }
            })
    }

    mutating func addCharacteristic(
        _ uuid: BluetoothUUID, _ properties: GATTCharacteristicProperties = .read, descriptors: [BluetoothUUID] = []
    ) {
        let valueHandle = (attributes.last?.handle ?? 0) + 2
        _ = add(
            .characteristic,
            written {
                $0.append(properties.rawValue)
                $0.append(valueHandle)
                $0.append(uuid)
            })
        _ = add(uuid)
        for descriptor in descriptors { _ = add(descriptor) }
    }

    // MARK: - Answers

    mutating func respond(to request: [UInt8], mtu: Int) -> [UInt8] {
        requests += 1
        let handle = UInt16(request[1]) | UInt16(request[2]) << 8
        if request[0] == 0x0A {
            guard let found = attributes.first(where: { $0.handle == handle }) else { return error(request, 0x01) }
            return [0x0B] + found.value.prefix(mtu - 1)
        }
        let end = UInt16(request[3]) | UInt16(request[4]) << 8
        guard handle > 0, handle <= end else { return error(request, 0x01) }
        let candidates = attributes.filter { (handle...end).contains($0.handle) }
        switch request[0] {
        case 0x04:
            return list([0x05], candidates, mtu: mtu, length: { $0.type.attLength == 2 ? 0x01 : 0x02 }) {
                $0.handle.littleEndianBytes + encoded($0.type)
            } ?? error(request, 0x0A)
        case 0x08, 0x10:
            let type = uuid(request.dropFirst(5))
            let isGroup = request[0] == 0x10
            return list(
                [request[0] + 1], candidates.filter { $0.type == type }, mtu: mtu,
                length: { UInt8($0.value.count + (isGroup ? 4 : 2)) },
                { $0.handle.littleEndianBytes + (isGroup ? $0.groupEnd.littleEndianBytes : []) + $0.value })
                ?? error(request, 0x0A)
        default: return error(request, 0x06)
        }
    }

    /// A list as long as its elements are of the first one's length, and fit.
    private func list(
        _ header: [UInt8], _ attributes: [Attribute], mtu: Int, length: (Attribute) -> UInt8,
        _ element: (Attribute) -> [UInt8]
    ) -> [UInt8]? {
        guard let first = attributes.first else { return nil }
        var response = header + [length(first)]
        for attribute in attributes {
            let bytes = element(attribute)
            guard length(attribute) == length(first), response.count + bytes.count <= mtu else { break }
            response += bytes
        }
        return response
    }

    private func encoded(_ uuid: BluetoothUUID) -> [UInt8] { written { $0.append(uuid) } }

    private func uuid(_ bytes: ArraySlice<UInt8>) -> BluetoothUUID {
        let array = Array(bytes)
        var reader = ByteReader(array.span)
        return (try? reader.readUUID(length: array.count)) ?? BluetoothUUID(0)
    }

    private func error(_ request: [UInt8], _ code: UInt8) -> [UInt8] {
        [0x01, request[0], request[1], request[2], code]
    }
}

extension UInt16 {
    fileprivate var littleEndianBytes: [UInt8] { [UInt8(truncatingIfNeeded: self), UInt8(self >> 8)] }
}

/// Lets one operation run against a server to its end.
func run(
    _ operation: GATTClientOperation, on server: inout ScriptedServer, mtu: Int
) throws -> GATTClientEvent? {
    var harness = ClientHarness(mtu: mtu)
    var sent = try harness.start(operation).sent
    while !sent.isEmpty {
        sent = harness.receive(server.respond(to: sent, mtu: mtu))
    }
    return harness.takeEvents().first
}
