import BluetoothATT
import BluetoothBase

extension GATTDatabase {
    /// Adds a service with all its attributes, and returns their handles.
    ///
    /// - Parameter start: The handle of the service declaration. By default, the one that the definition asks for. If
    ///   it asks for none, the service goes after all other services or, without room there, into the first gap that is
    ///   long enough.
    /// - Returns: The assigned handles. Indicate `range` to clients subscribed to Service Changed.
    public mutating func add(
        _ service: GATTServiceDefinition, at start: AttributeHandle? = nil
    ) throws(GATTDatabaseError) -> GATTServiceHandles {
        let handles = try put(service, at: start)
        do {
            try resolveIncludes(of: service, handles)
        } catch {
            remove(handles.range)
            throw error
        }
        return handles
    }

    /// Adds services, which may include each other, in the order given. Either all of them are added or none.
    ///
    /// - Returns: The assigned handles, in the order of the definitions.
    public mutating func add(
        _ services: [GATTServiceDefinition]
    ) throws(GATTDatabaseError) -> [GATTServiceHandles] {
        var added: [GATTServiceHandles] = []
        do {
            for service in services { added.append(try put(service, at: nil)) }
            for (service, handles) in zip(services, added) { try resolveIncludes(of: service, handles) }
        } catch {
            for handles in added { remove(handles.range) }
            throw error
        }
        return added
    }

    /// Removes the service whose declaration is at `declaration`.
    ///
    /// - Returns: The handles that became free: the range for a Service Changed indication (Core 5.4, Vol 3, Part G,
    ///   7.1). Call `AttributeEndpoint.forget(_:)` for every peer.
    /// - Throws: `.notFound` if no service is declared there, `.included` while another service includes it.
    public mutating func removeService(
        at declaration: AttributeHandle
    ) throws(GATTDatabaseError) -> ClosedRange<AttributeHandle> {
        let removed = try removeServices(at: [declaration])
        return removed[0]
    }

    /// Removes services, which may include each other. Either all of them are removed or none.
    ///
    /// - Returns: The handles that became free, in the order of the declarations.
    /// - Throws: `.notFound` if one of the services does not exist, `.included` if a service that stays includes one of
    ///   them.
    public mutating func removeServices(
        at declarations: [AttributeHandle]
    ) throws(GATTDatabaseError) -> [ClosedRange<AttributeHandle>] {
        var ranges: [ClosedRange<AttributeHandle>] = []
        for declaration in declarations {
            guard let index = index(of: declaration), isServiceDeclaration(index) else {
                throw .notFound(declaration)
            }
            ranges.append(declaration...rows[index].groupEnd)
        }
        for include in handles(ofType: .include) {
            guard let index = index(of: include), values[index].count >= 2 else { continue }
            let target = AttributeHandle(UInt16(values[index][0]) | UInt16(values[index][1]) << 8)
            guard declarations.contains(target), let includer = service(of: include), !declarations.contains(includer)
            else { continue }
            throw .included(target, by: includer)
        }
        for range in ranges { remove(range) }
        return ranges
    }

    /// Whether the attribute in a row is a service declaration, primary or secondary.
    func isServiceDeclaration(_ index: Int) -> Bool {
        let uuid = typeUUID(at: index)
        return uuid == .primaryService || uuid == .secondaryService
    }

    // MARK: - Includes

    /// Inserts a service whose include declarations are still empty.
    private mutating func put(
        _ service: GATTServiceDefinition, at start: AttributeHandle?
    ) throws(GATTDatabaseError) -> GATTServiceHandles {
        var layout = try GATTServiceLayout(service)
        let wanted = if let start { start } else { try layout.wantedStart() }
        let first = if let wanted { wanted } else { try place(layout.rows.count) }
        let handles = try layout.assignHandles(from: first)
        if let taken = firstTaken(of: handles.range) { throw .handleInUse(taken) }
        insert(layout.rows)
        for (characteristic, handles) in zip(service.characteristics, handles.characteristics) {
            let unconditional = characteristic.unconditional
            guard !unconditional.isEmpty else { continue }
            setUnconditional(
                handles.value,
                Unconditional(
                    configuration: unconditional,
                    permissions: GATTPermissions(
                        write: characteristic.subscription,
                        minimumEncryptionKeySize: characteristic.permissions.minimumEncryptionKeySize)))
        }
        return handles
    }

    /// Fills in the include declarations (3.2): the handles of the included service, and its UUID if that has 16 bits.
    private mutating func resolveIncludes(
        of service: GATTServiceDefinition, _ handles: GATTServiceHandles
    ) throws(GATTDatabaseError) {
        for (included, declaration) in zip(service.includes, handles.includes) {
            guard let index = index(of: included), isServiceDeclaration(index),
                let row = self.index(of: declaration)
            else { throw .notFound(included) }
            var value = ByteWriter(reservingCapacity: 6)
            value.append(included)
            value.append(rows[index].groupEnd)
            if values[index].count == 2 { value.append(values[index]) }
            values[row] = value.bytes
        }
    }

    // MARK: - Places

    /// The start of a run of `count` free handles, after all services if possible.
    private func place(_ count: Int) throws(GATTDatabaseError) -> AttributeHandle {
        let highest = Int(AttributeHandle.highest.rawValue)
        let behind = services.last.map { end(of: $0) + 1 } ?? 1
        if behind + count - 1 <= highest { return AttributeHandle(UInt16(behind)) }
        var candidate = 1
        for service in services {
            if Int(service.rawValue) - candidate >= count { return AttributeHandle(UInt16(candidate)) }
            candidate = end(of: service) + 1
        }
        throw .noRoom(count: count)
    }

    /// The last handle of the service whose declaration is at `service`.
    func end(of service: AttributeHandle) -> Int {
        Int(index(of: service).map { rows[$0].groupEnd.rawValue } ?? service.rawValue)
    }

    /// The declaration of the service that a handle belongs to.
    private func service(of handle: AttributeHandle) -> AttributeHandle? {
        let position = services.position(from: handle)
        if position < services.count, services[position] == handle { return handle }
        guard position > 0, end(of: services[position - 1]) >= Int(handle.rawValue) else { return nil }
        return services[position - 1]
    }

    /// The first handle in a range that belongs to a service.
    private func firstTaken(of range: ClosedRange<AttributeHandle>) -> AttributeHandle? {
        if service(of: range.lowerBound) != nil { return range.lowerBound }
        let position = services.position(from: range.lowerBound)
        guard position < services.count, services[position] <= range.upperBound else { return nil }
        return services[position]
    }
}

extension AttributeHandle {
    /// The highest valid handle.
    static var highest: AttributeHandle { 0xFFFF }
}
