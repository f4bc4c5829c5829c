import BluetoothATT
import BluetoothBase
import BluetoothGATT

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
        let generic = try? server.database.add(.genericAttribute())
        serviceChanged = generic?.characteristics.first?.value ?? 0
    }

    // MARK: Service Changed

    private mutating func databaseChanged(_ handles: ClosedRange<AttributeHandle>, at now: Instant) {
        for slot in links.used {
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
