import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// The services of all users in one database.
extension SharedHost {
    mutating func publish(
        _ call: UserCall, _ definition: GATTServiceDefinition, at handle: AttributeHandle?, _ now: Instant
    ) {
        do throws(GATTDatabaseError) {
            try checkIncludes(of: [definition], by: call.user)
            let handles = try host.addService(definition, handle: handle, at: now)
            services.insert(handles.range, of: call.user)
            end(call, .success(.published(handles)))
        } catch {
            end(call, .failure(.database(error)))
        }
    }

    mutating func publish(_ call: UserCall, _ definitions: [GATTServiceDefinition], at now: Instant) {
        do throws(GATTDatabaseError) {
            try checkIncludes(of: definitions, by: call.user)
            let handles = try host.addServices(definitions, at: now)
            for handles in handles { services.insert(handles.range, of: call.user) }
            end(call, .success(.publishedAll(handles)))
        } catch {
            end(call, .failure(.database(error)))
        }
    }

    /// A service must not include another user's service, which may be removed at any time.
    private func checkIncludes(
        of definitions: [GATTServiceDefinition], by user: UserID
    ) throws(GATTDatabaseError) {
        for included in definitions.lazy.flatMap(\.includes) {
            if let owner = services.owner(of: included), owner != user { throw .notFound(included) }
        }
    }

    mutating func withdraw(_ call: UserCall, _ declarations: [AttributeHandle], at now: Instant) {
        for declaration in declarations where services.range(at: declaration, of: call.user) == nil {
            return end(call, .failure(.database(.notFound(declaration))))
        }
        do throws(GATTDatabaseError) {
            try withdraw(declarations, at: now)
            end(call, .success(.done))
        } catch {
            end(call, .failure(.database(error)))
        }
    }

    /// Removes all services of a user from the database.
    mutating func withdrawAll(of user: UserID, at now: Instant) {
        // Remove them together. Only the user's own services can include each other, so the removal cannot fail.
        try? withdraw(services.declarations(of: user), at: now)
    }

    private mutating func withdraw(_ declarations: [AttributeHandle], at now: Instant) throws(GATTDatabaseError) {
        for range in try host.removeServices(declarations, at: now) {
            services.remove(at: range.lowerBound)
            // A new service may reuse these handles, and must start without subscriptions.
            for slot in slots where links[slot.index].isInUse {
                links[slot.index].peerSubscriptions.remove(in: range)
            }
        }
    }

    mutating func setValue(_ call: UserCall, _ value: [UInt8], of handle: AttributeHandle) {
        do throws(GATTDatabaseError) {
            try host.server.database.setValue(value, of: handle)
            end(call, .success(.done))
        } catch {
            end(call, .failure(.database(error)))
        }
    }
}

/// The services of users, by handle.
struct PublishedServices: Sendable {
    private struct Service: Sendable {
        let handles: ClosedRange<AttributeHandle>
        let user: UserID
    }

    /// Sorted by handle.
    private var services: [Service] = []

    /// The user that receives the events of an attribute; nil if the attribute belongs to the host.
    func owner(of handle: AttributeHandle) -> UserID? {
        let index = self.index(after: handle) - 1
        guard index >= 0, services[index].handles.contains(handle) else { return nil }
        return services[index].user
    }

    mutating func insert(_ handles: ClosedRange<AttributeHandle>, of user: UserID) {
        services.insert(Service(handles: handles, user: user), at: index(after: handles.lowerBound))
    }

    /// The handles of the service with this declaration, if it belongs to the user.
    func range(at declaration: AttributeHandle, of user: UserID) -> ClosedRange<AttributeHandle>? {
        let index = self.index(after: declaration) - 1
        guard index >= 0, services[index].handles.lowerBound == declaration, services[index].user == user else {
            return nil
        }
        return services[index].handles
    }

    /// Removes the service with this declaration.
    mutating func remove(at declaration: AttributeHandle) {
        let index = self.index(after: declaration) - 1
        if index >= 0, services[index].handles.lowerBound == declaration { services.remove(at: index) }
    }

    /// The declarations of a user's services.
    func declarations(of user: UserID) -> [AttributeHandle] {
        services.lazy.filter { $0.user == user }.map(\.handles.lowerBound)
    }

    /// The number of services whose declaration is at this handle or before it.
    private func index(after handle: AttributeHandle) -> Int {
        var (low, high) = (0, services.count)
        while low < high {
            let middle = (low + high) / 2
            if services[middle].handles.lowerBound <= handle { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
