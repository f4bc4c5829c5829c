import BluetoothBase
import BluetoothHCI
import BluetoothHost

/// An advertising set that belongs to one user.
struct AdvertisingSetRecord: Sendable {
    let call: UserCall
    let handle: AdvertisingHandle
    /// Whether the user knows that it is on the air.
    var isStarted = false
    /// A call for something else to be advertised, until that is on the air.
    var change: UserCall?
}

extension AdvertisingHandle {
    /// The set that the advertisements of all users are merged into. All others belong to one user each.
    static let shared = AdvertisingHandle(0)
}

/// Advertising sets, each for one user.
extension SharedHost {
    mutating func advertise(_ call: UserCall, _ parameters: AdvertisingParameters, at now: Instant) {
        if let refusal { return end(call, .failure(refusal)) }
        // As many as there may be, and one more, which the host refuses.
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

    /// The set is over, by itself.
    mutating func setEnded(_ handle: AdvertisingHandle) { removeSet(handle, nil) }

    /// The controller refuses the set.
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

    /// Ends the sets of a user, or that of a call of his.
    ///
    /// - Returns: the calls whose sets have not been on the air yet.
    mutating func stopSets(where isMeant: (UserCall) -> Bool, at now: Instant) -> [UserCall] {
        let stopped = advertisingSets.filter { isMeant($0.call) }
        advertisingSets.removeAll { isMeant($0.call) }
        for record in stopped {
            host.stopAdvertising(record.handle, at: now)
            if let change = record.change { end(change, .failure(.cancelled)) }
        }
        return stopped.filter { !$0.isStarted }.map(\.call)
    }

    /// The adapter is gone: what has not been on the air is not waited for.
    mutating func endPendingSets(_ error: HostError) {
        for record in advertisingSets where !record.isStarted { end(record.call, .failure(error)) }
        advertisingSets.removeAll { !$0.isStarted }
    }
}
