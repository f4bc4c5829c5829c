import BluetoothATT
import BluetoothBase

/// The attributes of a server (Core 5.4, Vol 3, Part G, 2.5 and 3).
///
/// Finding an attribute takes the same time in a database of twenty as in one of ten thousand: by handle it is one
/// step, by type a binary search among the attributes of that type, and a primary service is found by its UUID.
/// Adding and removing services pay for that.
public struct GATTDatabase: Sendable {
    /// In ascending order of handles.
    private(set) var attributes: [GATTAttribute] = []
    /// The octets of `attributes[n]` where the database keeps them, else empty.
    var values: [[UInt8]] = []
    /// For each handle up to the highest in use, the index of the first attribute that is at or behind it.
    private var slots: [UInt16] = []
    /// The attribute types in use, in the order they came up.
    private(set) var typeUUIDs: [BluetoothUUID] = []
    /// The handles of the attributes of each type, ascending.
    private(set) var typeHandles: [[AttributeHandle]] = []
    private var typeIndices: [BluetoothUUID: GATTTypeIndex] = [:]
    /// The declarations of primary services, ascending, by the UUID of the service.
    private(set) var primaryServices: [BluetoothUUID: [AttributeHandle]] = [:]

    public init() {}

    /// How many attributes there are.
    public var count: Int { attributes.count }

    // MARK: - Looking up

    /// The index of the attribute at `handle`.
    @inline(__always)
    func index(of handle: AttributeHandle) -> Int? {
        let position = Int(handle.rawValue)
        guard position < slots.count else { return nil }
        let index = Int(slots[position])
        return attributes[index].handle == handle ? index : nil
    }

    /// The index of the first attribute at `handle` or behind it; `count` where there is none.
    func firstIndex(from handle: AttributeHandle) -> Int {
        let position = Int(handle.rawValue)
        return position < slots.count ? Int(slots[position]) : attributes.count
    }

    /// The place of a type in the tables, where an attribute has it.
    func typeIndex(of uuid: BluetoothUUID) -> GATTTypeIndex? { typeIndices[uuid] }

    // MARK: - Filling

    /// Puts an attribute behind all others. Its handle is higher than theirs.
    mutating func append(_ attribute: GATTAttribute, of uuid: BluetoothUUID, value: [UInt8]) {
        var attribute = attribute
        attribute.type = registerType(uuid)
        let index = UInt16(truncatingIfNeeded: attributes.count)
        attributes.append(attribute)
        values.append(value)
        while slots.count <= Int(attribute.handle.rawValue) { slots.append(index) }
        typeHandles[Int(attribute.type)].append(attribute.handle)
        if uuid == .primaryService, let service = GATTDatabase.serviceUUID(value.span) {
            primaryServices[service, default: []].append(attribute.handle)
        }
    }

    /// Moves every attribute from `index` on into a database of its own.
    mutating func split(at index: Int) -> GATTDatabase {
        var head = GATTDatabase(), tail = GATTDatabase()
        for position in attributes.indices {
            let uuid = typeUUIDs[Int(attributes[position].type)]
            if position < index {
                head.append(attributes[position], of: uuid, value: values[position])
            } else {
                tail.append(attributes[position], of: uuid, value: values[position])
            }
        }
        self = head
        return tail
    }

    /// Puts all attributes of `other` behind those that are here.
    mutating func append(_ other: GATTDatabase) {
        for (attribute, value) in zip(other.attributes, other.values) {
            append(attribute, of: other.typeUUIDs[Int(attribute.type)], value: value)
        }
    }

    /// The place of a type in the tables, which is made where there is none yet.
    private mutating func registerType(_ uuid: BluetoothUUID) -> GATTTypeIndex {
        if let known = typeIndices[uuid] { return known }
        // No more types than attributes, because `split` forgets unused ones, and no more attributes than handles.
        let index = GATTTypeIndex(truncatingIfNeeded: typeUUIDs.count)
        typeUUIDs.append(uuid)
        typeHandles.append([])
        typeIndices[uuid] = index
        return index
    }

    /// The UUID that the value of a service declaration holds.
    static func serviceUUID(_ value: Span<UInt8>) -> BluetoothUUID? {
        var reader = ByteReader(value)
        guard value.count == 2 || value.count == 16, let uuid = try? reader.readUUID(length: value.count),
            uuid.attLength == value.count
        else { return nil }
        return uuid
    }
}
