import BluetoothATT
import BluetoothBase

extension GATTDatabase {
    /// Adds a service with all that belongs to it, and tells where everything went.
    ///
    /// - Parameter start: The handle of the service declaration; where it is left out, the service goes behind all
    ///   others, or, where there is no room, into the first gap that is long enough.
    /// - Returns: The handles given out. Connected clients that are subscribed to Service Changed have to be told of
    ///   `range`.
    public mutating func add(
        _ service: GATTServiceDefinition, at start: AttributeHandle? = nil
    ) throws(GATTDatabaseError) -> GATTServiceHandles {
        var layout = try GATTServiceLayout(service, in: self)
        let first = try place(layout.rows.count, at: start)
        let handles = layout.assignHandles(from: first)
        let index = firstIndex(from: first)
        let tail = index < attributes.count ? split(at: index) : nil
        for row in layout.rows { append(row.attribute, of: row.uuid, value: row.value) }
        if let tail { append(tail) }
        return handles
    }

    /// Removes the service whose declaration is at `declaration`. Services that include it have to go first: their
    /// declarations would name handles that lead nowhere.
    ///
    /// - Returns: The handles that became free: the range a Service Changed indication names (Core 5.4, Vol 3, Part G,
    ///   7.1). Every connection has to be told, with `GATTServerConnection.forget(_:)`.
    public mutating func removeService(
        at declaration: AttributeHandle
    ) throws(GATTDatabaseError) -> ClosedRange<AttributeHandle> {
        guard let index = index(of: declaration), isServiceDeclaration(index) else {
            throw .notFound(declaration)
        }
        let range = declaration...attributes[index].groupEnd
        var removed = split(at: index)
        let behind = removed.attributes.firstIndex { $0.handle > range.upperBound } ?? removed.count
        append(removed.split(at: behind))
        return range
    }

    /// Whether the attribute at `index` opens a service, primary or secondary.
    func isServiceDeclaration(_ index: Int) -> Bool {
        let uuid = typeUUIDs[Int(attributes[index].type)]
        return uuid == .primaryService || uuid == .secondaryService
    }

    /// The first of `count` free handles.
    private func place(_ count: Int, at start: AttributeHandle?) throws(GATTDatabaseError) -> AttributeHandle {
        let highest = Int(AttributeHandle.highest.rawValue)
        if let start {
            let first = Int(start.rawValue)
            guard first > 0 else { throw .invalidHandle }
            guard first + count - 1 <= highest, isFree(first, count) else { throw .noRoom(count: count) }
            return start
        }
        let behind = attributes.last.map { Int($0.handle.rawValue) + 1 } ?? 1
        if behind + count - 1 <= highest { return AttributeHandle(UInt16(behind)) }
        var candidate = 1
        for attribute in attributes {
            let handle = Int(attribute.handle.rawValue)
            // A gap within a service belongs to that service.
            if handle - candidate >= count, isFree(candidate, count) { return AttributeHandle(UInt16(candidate)) }
            candidate = max(candidate, Int(attribute.groupEnd.rawValue) + 1)
        }
        throw .noRoom(count: count)
    }

    /// Whether `count` handles from `first` on belong to no service.
    private func isFree(_ first: Int, _ count: Int) -> Bool {
        let handle = AttributeHandle(UInt16(truncatingIfNeeded: first))
        let index = firstIndex(from: handle)
        if index < attributes.count, Int(attributes[index].handle.rawValue) < first + count { return false }
        guard let opening = attributes[..<index].lastIndex(where: { $0.groupEnd > $0.handle }) else { return true }
        return attributes[opening].groupEnd < handle
    }
}

extension AttributeHandle {
    /// The highest handle there is.
    static var highest: AttributeHandle { 0xFFFF }
}
