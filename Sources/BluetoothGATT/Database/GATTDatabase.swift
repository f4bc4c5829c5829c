import BluetoothATT
import BluetoothBase

/// The attributes of a server (Core 5.4, Vol 3, Part G, 2.5 and 3).
///
/// Lookups stay fast in large databases: by handle they take one step, by type a binary search among the attributes of
/// that type, and primary services are found by their UUID. Adding or removing a service takes time proportional to its
/// length: attributes stay in their rows, and only the ordered lists of handles move, at two octets each.
public struct GATTDatabase: Sendable {
    /// The attributes, in no particular order. The rows in `freeRows` are not in use.
    private(set) var rows: [GATTAttribute] = []
    /// The octets of `rows[n]` if the database keeps them, otherwise empty.
    var values: [[UInt8]] = []
    private var freeRows: [UInt16] = []
    /// For each handle up to the highest ever used, the row of its attribute.
    private var rowOfHandle: [UInt16] = []
    /// The handles of all service declarations, in ascending order.
    private(set) var services: [AttributeHandle] = []
    /// The attribute types in use, in the order they were first used, and free places for others.
    private(set) var typeUUIDs: [BluetoothUUID] = []
    /// The handles of the attributes of each type, in ascending order; empty if the place is free.
    private(set) var typeHandles: [[AttributeHandle]] = []
    private var typeIndices: [BluetoothUUID: GATTTypeIndex] = [:]
    private var freeTypes: [GATTTypeIndex] = []
    /// The handles of primary service declarations, in ascending order, by the UUID of the service.
    private(set) var primaryServices: [BluetoothUUID: [AttributeHandle]] = [:]
    /// The characteristics that are notified or indicated without a Client Characteristic Configuration, by the handle
    /// of their value.
    private(set) var unconditional: [AttributeHandle: Unconditional] = [:]

    /// The notifications and indications that go to every client whose link has the required security.
    struct Unconditional: Equatable, Sendable {
        var configuration: GATTClientConfiguration
        /// The permissions that a Client Characteristic Configuration would have.
        var permissions: GATTPermissions
    }

    /// Marks a handle without an attribute. No row has this number: handle 0 is reserved, so there are at most 0xFFFF
    /// attributes.
    private static let noRow: UInt16 = 0xFFFF

    /// Creates an empty database.
    public init() {}

    /// The number of attributes.
    public var count: Int { rows.count - freeRows.count }

    // MARK: - Looking up

    /// The row of the attribute at `handle`.
    @inline(__always)
    func index(of handle: AttributeHandle) -> Int? {
        let position = Int(handle.rawValue)
        guard position < rowOfHandle.count else { return nil }
        let row = rowOfHandle[position]
        return row == Self.noRow ? nil : Int(row)
    }

    /// The handle of the first attribute at or after `handle`.
    func firstHandle(from handle: AttributeHandle) -> AttributeHandle? {
        if index(of: handle) != nil { return handle }
        let position = services.position(from: handle)
        // A service may skip handles.
        if position > 0, let found = nextHandle(from: handle, upTo: end(of: services[position - 1])) { return found }
        return position < services.count ? services[position] : nil
    }

    /// The handle of the first attribute from `handle` to `end`, the last handle of a service.
    private func nextHandle(from handle: AttributeHandle, upTo end: Int) -> AttributeHandle? {
        var position = Int(handle.rawValue)
        let end = min(end, rowOfHandle.count &- 1)
        while position <= end {
            if rowOfHandle[position] != Self.noRow { return AttributeHandle(UInt16(truncatingIfNeeded: position)) }
            position &+= 1
        }
        return nil
    }

    /// The handle of the attribute that follows the one at `handle`.
    func handle(after handle: AttributeHandle) -> AttributeHandle? {
        handle == .highest ? nil : firstHandle(from: AttributeHandle(handle.rawValue &+ 1))
    }

    /// All attributes, in ascending order of handles.
    var attributes: [GATTAttribute] {
        var handle = firstHandle(from: 0)
        var attributes: [GATTAttribute] = []
        while let current = handle, let index = index(of: current) {
            attributes.append(rows[index])
            handle = self.handle(after: current)
        }
        return attributes
    }

    /// The index of a type in the tables; nil if no attribute has the type.
    func typeIndex(of uuid: BluetoothUUID) -> GATTTypeIndex? { typeIndices[uuid] }

    // MARK: - Filling and emptying

    /// Inserts the attributes of a service. Their handles must be free and in ascending order.
    mutating func insert(_ service: [GATTServiceLayout.Row]) {
        guard let first = service.first, let last = service.last else { return }
        while rowOfHandle.count <= Int(last.attribute.handle.rawValue) { rowOfHandle.append(Self.noRow) }
        services.insertInOrder(first.attribute.handle)
        for row in service {
            let handle = row.attribute.handle
            var attribute = row.attribute
            attribute.type = registerType(row.uuid)
            rowOfHandle[Int(handle.rawValue)] = store(attribute, row.value)
            typeHandles[Int(attribute.type)].insertInOrder(handle)
        }
        if first.uuid == .primaryService, let uuid = GATTDatabase.serviceUUID(first.value.span) {
            primaryServices[uuid, default: []].insertInOrder(first.attribute.handle)
        }
    }

    /// Removes the attributes of a service, which are at some of `handles`.
    mutating func remove(_ handles: ClosedRange<AttributeHandle>) {
        guard let declaration = index(of: handles.lowerBound) else { return }
        let value = values[declaration]
        if typeUUID(at: declaration) == .primaryService, let uuid = GATTDatabase.serviceUUID(value.span) {
            primaryServices[uuid]?.removeAll(in: handles)
            if primaryServices[uuid]?.isEmpty == true { primaryServices[uuid] = nil }
        }
        services.removeAll(in: handles)
        for handle in handles.lowerBound.rawValue...handles.upperBound.rawValue {
            guard let index = index(of: AttributeHandle(handle)) else { continue }
            rowOfHandle[Int(handle)] = Self.noRow
            values[index] = []
            freeRows.append(UInt16(truncatingIfNeeded: index))
            forget(handles, ofType: rows[index].type)
            if !unconditional.isEmpty { unconditional[AttributeHandle(handle)] = nil }
        }
    }

    mutating func setUnconditional(_ handle: AttributeHandle, _ sent: Unconditional) { unconditional[handle] = sent }

    /// Stores an attribute in a free row, and returns the row.
    private mutating func store(_ attribute: GATTAttribute, _ value: [UInt8]) -> UInt16 {
        if let row = freeRows.popLast() {
            rows[Int(row)] = attribute
            values[Int(row)] = value
            return row
        }
        rows.append(attribute)
        values.append(value)
        return UInt16(truncatingIfNeeded: rows.count &- 1)
    }

    /// The index of a type in the tables, which is added if needed.
    private mutating func registerType(_ uuid: BluetoothUUID) -> GATTTypeIndex {
        if let known = typeIndices[uuid] { return known }
        if let free = freeTypes.popLast() {
            typeUUIDs[Int(free)] = uuid
            typeIndices[uuid] = free
            return free
        }
        // This cannot overflow: unused places are reused, so there are never more types than attributes or handles.
        let index = GATTTypeIndex(truncatingIfNeeded: typeUUIDs.count)
        typeUUIDs.append(uuid)
        typeHandles.append([])
        typeIndices[uuid] = index
        return index
    }

    /// Removes handles from the list of a type, and frees its place if no attribute has the type any more.
    private mutating func forget(_ handles: ClosedRange<AttributeHandle>, ofType type: GATTTypeIndex) {
        // The list is already empty if the service has several attributes of the type and an earlier one was handled.
        guard !typeHandles[Int(type)].isEmpty else { return }
        typeHandles[Int(type)].removeAll(in: handles)
        guard typeHandles[Int(type)].isEmpty else { return }
        typeIndices[typeUUIDs[Int(type)]] = nil
        freeTypes.append(type)
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
