import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// The services of the users, in one database.
extension SharedHost {
    mutating func publish(
        _ call: UserCall, _ definition: GATTServiceDefinition, at handle: AttributeHandle?, _ now: Instant
    ) {
        do throws(GATTDatabaseError) {
            let handles = try host.addService(definition, handle: handle, at: now)
            services.insert(handles.range, of: call.user)
            end(call, .success(.published(handles)))
        } catch {
            end(call, .failure(.database(error)))
        }
    }

    mutating func withdraw(_ call: UserCall, _ declaration: AttributeHandle, at now: Instant) {
        guard services.owner(of: declaration) == call.user, let range = services.remove(at: declaration) else {
            return end(call, .failure(.database(.notFound(declaration))))
        }
        withdraw(range, at: now)
        end(call, .success(.done))
    }

    mutating func withdraw(_ range: ClosedRange<AttributeHandle>, at now: Instant) {
        _ = try? host.removeService(range.lowerBound, at: now)
        // A new service may take these handles, without any subscription.
        for slot in links.indices where links[slot].isInUse && !links[slot].peerSubscriptions.isEmpty {
            links[slot].peerSubscriptions = links[slot].peerSubscriptions.filter { !range.contains($0.key) }
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

/// The users' services by handle.
struct PublishedServices: Sendable {
    private struct Service: Sendable {
        let handles: ClosedRange<AttributeHandle>
        let user: UserID
    }

    /// In the order of their handles.
    private var services: [Service] = []

    /// The user that receives the events of an attribute; nil if it is the host's own.
    func owner(of handle: AttributeHandle) -> UserID? {
        let index = self.index(after: handle) - 1
        guard index >= 0, services[index].handles.contains(handle) else { return nil }
        return services[index].user
    }

    mutating func insert(_ handles: ClosedRange<AttributeHandle>, of user: UserID) {
        services.insert(Service(handles: handles, user: user), at: index(after: handles.lowerBound))
    }

    /// Removes the service with a declaration.
    mutating func remove(at declaration: AttributeHandle) -> ClosedRange<AttributeHandle>? {
        let index = self.index(after: declaration) - 1
        guard index >= 0, services[index].handles.lowerBound == declaration else { return nil }
        return services.remove(at: index).handles
    }

    /// Removes the services of a user, last first: a service goes before those it includes.
    mutating func remove(of user: UserID) -> [ClosedRange<AttributeHandle>] {
        let removed = services.filter { $0.user == user }.map(\.handles)
        services.removeAll { $0.user == user }
        return removed.reversed()
    }

    /// How many services begin at a handle or before it.
    private func index(after handle: AttributeHandle) -> Int {
        var (low, high) = (0, services.count)
        while low < high {
            let middle = (low + high) / 2
            if services[middle].handles.lowerBound <= handle { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
