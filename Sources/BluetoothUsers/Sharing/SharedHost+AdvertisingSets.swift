import BluetoothBase
import BluetoothHCI
import BluetoothHost

/// An advertising set that belongs to one user.
struct AdvertisingSetRecord: Sendable {
    let call: UserCall
    let handle: AdvertisingHandle
    /// Whether the user has been notified that the set is on the air.
    var isStarted = false
    /// The call that changes what the set advertises, until the change is on the air.
    var change: UserCall?
}

extension AdvertisingHandle {
    /// The set that carries the merged advertisements of all users. Every other set belongs to one user.
    static let shared = AdvertisingHandle(0)
}

/// Advertising sets that belong to one user each.
extension SharedHost {
    mutating func advertise(_ call: UserCall, _ parameters: AdvertisingParameters, at now: Instant) {
        if let refusal { return end(call, .failure(refusal)) }
        // One handle more than the maximum number of sets. The host rejects the additional one.
        let handles = (1...UInt8(Host.maximumAdvertisingSets) + 1).map { AdvertisingHandle($0) }
        guard let handle = handles.first(where: { handle in !advertisingSets.contains { $0.handle == handle } }) else {
            return end(call, .failure(.busy))
        }
        do throws(HostError) {
            try host.startAdvertising(parameters, as: handle, at: now)
        } catch {
            return end(call, .failure(error))
        }
        advertisingSets.append(AdvertisingSetRecord(call: call, handle: handle))
    }

    mutating func setStarted(_ handle: AdvertisingHandle) {
        guard let index = advertisingSets.firstIndex(where: { $0.handle == handle }) else { return }
        if let change = advertisingSets[index].change.take() { end(change, .success(.done)) }
        guard !advertisingSets[index].isStarted else { return }
        advertisingSets[index].isStarted = true
        end(advertisingSets[index].call, .success(.done))
    }

    /// Ends a set whose duration has elapsed.
    mutating func setEnded(_ handle: AdvertisingHandle) { removeSet(handle, nil) }

    /// Ends a set that the controller rejected.
    mutating func setFailed(_ handle: AdvertisingHandle, _ error: HostError) {
        removeSet(handle, status == .lost ? .adapterRemoved : error)
    }

    private mutating func removeSet(_ handle: AdvertisingHandle, _ error: HostError?) {
        guard let index = advertisingSets.firstIndex(where: { $0.handle == handle }) else { return }
        let record = advertisingSets.remove(at: index)
        if let change = record.change { end(change, .failure(error ?? .timedOut)) }
        guard record.isStarted else { return end(record.call, .failure(error ?? .timedOut)) }
        tell(.advertisingSetEnded(record.call.token, error), to: record.call.user)
    }

    /// Stops the matching sets: all sets of a user, or the set of one call.
    ///
    /// - Returns: the calls whose sets were never on the air.
    mutating func stopSets(where isMeant: (UserCall) -> Bool, at now: Instant) -> [UserCall] {
        let stopped = advertisingSets.filter { isMeant($0.call) }
        advertisingSets.removeAll { isMeant($0.call) }
        for record in stopped {
            host.stopAdvertising(record.handle, at: now)
            if let change = record.change { end(change, .failure(.cancelled)) }
        }
        return stopped.filter { !$0.isStarted }.map(\.call)
    }

    /// Ends the sets that have not been on the air, because the adapter is gone.
    mutating func endPendingSets(_ error: HostError) {
        for record in advertisingSets where !record.isStarted { end(record.call, .failure(error)) }
        advertisingSets.removeAll { !$0.isStarted }
    }
}
