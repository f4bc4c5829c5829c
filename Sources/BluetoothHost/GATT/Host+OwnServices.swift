import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothSMP

/// The database, and the services every device has.
extension Host {
    /// Adds a service to the database. Peers that have subscribed to Service Changed get an indication (Core 5.4, Vol 3, Part G, 7.1).
    ///
    /// - Parameter handle: where to put it; the first free place where nil.
    public mutating func addService(
        _ definition: GATTServiceDefinition, handle: AttributeHandle? = nil, at now: Instant
    ) throws(GATTDatabaseError) -> GATTServiceHandles {
        let handles = try server.database.add(definition, at: handle)
        databaseChanged(handles.range, at: now)
        return handles
    }

    /// Takes a service out of the database, and whatever links remember of it. Peers that have subscribed to
    /// Service Changed get an indication.
    ///
    /// - Parameter handle: the handle of its declaration.
    /// - Returns: the handles that are free now.
    @discardableResult
    public mutating func removeService(
        _ handle: AttributeHandle, at now: Instant
    ) throws(GATTDatabaseError) -> ClosedRange<AttributeHandle> {
        let handles = try server.database.removeService(at: handle)
        for slot in links.used { links.at[slot].endpoint.forget(handles) }
        databaseChanged(handles, at: now)
        return handles
    }

    /// Publishes Generic Access and Generic Attribute (Vol 3, Part C, 12 and Part G, 7).
    mutating func publishOwnServices() {
        // The database is empty, and both are well formed: neither can be refused.
        _ = try? server.database.add(.genericAccess(deviceName: configuration.deviceName))
        let generic = try? server.database.add(.genericAttribute(hasDatabaseHash: security != nil))
        serviceChanged = generic?.characteristics.first?.value ?? 0
    }

    // MARK: Database Hash

    /// The Database Hash of this host's server (Vol 3, Part G, 7.3); nil without ciphers. It is computed when it is needed:
    /// services come in dozens, and each of them changes it.
    mutating func ownDatabaseHash() -> UInt128? {
        if let databaseHash { return databaseHash }
        guard let crypto = security?.crypto else { return nil }
        var input = ByteWriter()
        server.database.appendHashInput(into: &input)
        databaseHash = crypto.authenticationCode(key: 0, message: input.bytes)
        return databaseHash
    }

    /// Answers a read of the Database Hash in the application's place. False where another value is read.
    mutating func answerDatabaseHash(_ request: ServerRequest, _ handle: AttributeHandle, offset: Int) -> Bool {
        guard server.database.type(of: handle) == .databaseHash, let hash = ownDatabaseHash() else { return false }
        var value = ByteWriter(reservingCapacity: 16)
        // Values are little-endian, and nothing else is said of this one.
        value.append(hash)
        _ = try? answer(request, value: value.span.extracting(droppingFirst: min(offset, value.count)))
        return true
    }

    // MARK: Service Changed

    private mutating func databaseChanged(_ handles: ClosedRange<AttributeHandle>, at now: Instant) {
        databaseHash = nil
        for slot in links.used {
            links.at[slot].endpoint.databaseChanged()
            links.at[slot].serviceChange = links.at[slot].serviceChange.map { $0.union(handles) } ?? handles
            indicateServiceChange(slot, at: now)
        }
    }

    /// Indicates to a peer which handles have changed, where it has subscribed to that. While an indication is unconfirmed the change
    /// waits, and grows.
    mutating func indicateServiceChange(_ slot: Int, at now: Instant) {
        guard let handles = links.at[slot].serviceChange else { return }
        guard links.at[slot].endpoint.peer.configuration(of: serviceChanged).contains(.indications) else {
            links.at[slot].serviceChange = nil
            return
        }
        guard links.at[slot].endpoint.channelForIndication != nil else { return }
        links.at[slot].serviceChange = nil
        var value = ByteWriter(reservingCapacity: 4)
        value.append(handles.lowerBound)
        value.append(handles.upperBound)
        _ = try? indicate(serviceChanged, value: value.span, on: links.at[slot].identifier, at: now)
    }
}

extension ClosedRange {
    fileprivate func union(_ other: Self) -> Self {
        Swift.min(lowerBound, other.lowerBound)...Swift.max(upperBound, other.upperBound)
    }
}
