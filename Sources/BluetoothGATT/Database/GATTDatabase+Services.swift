import BluetoothATT
import BluetoothBase

extension GATTDatabase {
    /// Adds a service with all its attributes, and returns their handles.
    ///
    /// - Parameter start: The handle of the service declaration; by default behind all other services, or, without room
    ///   there, in the first gap that is long enough.
    /// - Returns: The assigned handles. Indicate `range` to clients subscribed to Service Changed.
    public mutating func add(
        _ service: GATTServiceDefinition, at start: AttributeHandle? = nil
    ) throws(GATTDatabaseError) -> GATTServiceHandles {
        var layout = try GATTServiceLayout(service, in: self)
        let first = try place(layout.rows.count, at: start)
        let handles = layout.assignHandles(from: first)
        insert(layout.rows)
        return handles
    }

    /// Removes the service whose declaration is at `declaration`. Services that include it must be removed first: their
    /// declarations would name unused handles.
    ///
    /// - Returns: The handles that became free: the range a Service Changed indication names (Core 5.4, Vol 3, Part G,
    ///   7.1). Call `AttributeEndpoint.forget(_:)` for every peer.
    public mutating func removeService(
        at declaration: AttributeHandle
    ) throws(GATTDatabaseError) -> ClosedRange<AttributeHandle> {
        guard let index = index(of: declaration), isServiceDeclaration(index) else {
            throw .notFound(declaration)
        }
        let range = declaration...rows[index].groupEnd
        remove(range)
        return range
    }

    /// Whether the attribute in a row opens a service, primary or secondary.
    func isServiceDeclaration(_ index: Int) -> Bool {
        let uuid = typeUUID(at: index)
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
        let behind = services.last.map { end(of: $0) + 1 } ?? 1
        if behind + count - 1 <= highest { return AttributeHandle(UInt16(behind)) }
        var candidate = 1
        for service in services {
            if Int(service.rawValue) - candidate >= count { return AttributeHandle(UInt16(candidate)) }
            candidate = end(of: service) + 1
        }
        throw .noRoom(count: count)
    }

    /// The last handle of the service whose declaration is at a handle.
    private func end(of service: AttributeHandle) -> Int {
        Int(index(of: service).map { rows[$0].groupEnd.rawValue } ?? service.rawValue)
    }

    /// Whether `count` handles from `first` on belong to no service.
    private func isFree(_ first: Int, _ count: Int) -> Bool {
        let position = services.position(from: AttributeHandle(UInt16(truncatingIfNeeded: first)))
        if position < services.count, Int(services[position].rawValue) < first + count { return false }
        return position == 0 || end(of: services[position - 1]) < first
    }
}

extension AttributeHandle {
    /// The highest handle there is.
    static var highest: AttributeHandle { 0xFFFF }
}
