import BluetoothBase
import BluetoothGAP

/// The advertisement of one user.
struct AdvertisementRecord: Sendable {
    let call: UserCall
    let request: AdvertisingRequest
    /// Whether the user knows that it is on the air.
    var isStarted = false
}

/// One advertisement for all users.
extension SharedHost {
    mutating func advertise(_ call: UserCall, _ request: AdvertisingRequest, at now: Instant) {
        if let refusal { return end(call, .failure(refusal)) }
        do throws(HostError) {
            // Before anything is cancelled: an advertisement that is refused changes nothing.
            _ = try AdvertisingRequest.merged([request])
        } catch {
            return end(call, .failure(error))
        }
        if let index = advertisements.firstIndex(where: { $0.call.user == call.user }) {
            let replaced = advertisements.remove(at: index)
            if !replaced.isStarted { end(replaced.call, .failure(.cancelled)) }
        }
        advertisements.append(AdvertisementRecord(call: call, request: request))
        updateAdvertising(at: now)
    }

    /// Makes the controller advertise for all current users.
    mutating func updateAdvertising(at now: Instant) {
        guard !advertisements.isEmpty else { return host.stopAdvertising(at: now) }
        do throws(HostError) {
            try host.startAdvertising(try AdvertisingRequest.merged(advertisements.map(\.request)), at: now)
        } catch {
            advertisingFailed(error, at: now)
        }
    }

    mutating func advertisingStarted() {
        for index in advertisements.indices where !advertisements[index].isStarted {
            advertisements[index].isStarted = true
            end(advertisements[index].call, .success(.done))
        }
    }

    /// The new advertisement is refused; the previous one continues.
    mutating func advertisingFailed(_ error: HostError, at now: Instant) {
        let refused = advertisements.filter { !$0.isStarted }
        advertisements.removeAll { !$0.isStarted }
        let reason = status == .lost ? HostError.adapterRemoved : error
        for advertisement in refused { end(advertisement.call, .failure(reason)) }
        // The controller is gone: what was on the air waits for its return.
        if error == .notReady { return }
        // Without a new one there is nothing left to try.
        if refused.isEmpty { advertisements = [] }
        if !advertisements.isEmpty { updateAdvertising(at: now) }
    }

    /// A controller is up: resumes the advertising that the host gave up with the previous one.
    mutating func retryAdvertising(at now: Instant) {
        guard !advertisements.isEmpty, !host.isAdvertisingWanted else { return }
        updateAdvertising(at: now)
    }
}

extension AdvertisingRequest {
    /// The merged parameters of several users: the first name, all services, connectable if one is, and the shortest
    /// interval.
    static func merged(_ requests: [AdvertisingRequest]) throws(HostError) -> AdvertisingParameters {
        guard var merged = requests.first else { throw .invalidParameters }
        for request in requests.dropFirst() {
            merged.advertisement.merge(request.advertisement)
            merged.isConnectable = merged.isConnectable || request.isConnectable
            if request.interval.upperBound < merged.interval.upperBound { merged.interval = request.interval }
        }
        if merged.advertisement.flags == nil {
            merged.advertisement.flags = [.generalDiscoverable, .brEDRNotSupported]
        }
        if merged.cutsToFit || requests.count > 1 { merged.advertisement = merged.advertisement.cutToFit }
        let payload: AdvertisingPayload
        do throws(AdvertisingPayloadError) {
            payload = try AdvertisingPayload(merged.advertisement)
        } catch {
            throw .advertisingData(error)
        }
        let parameters = AdvertisingParameters(
            isConnectable: merged.isConnectable, interval: merged.interval, data: payload.advertisingData,
            scanResponse: payload.scanResponseData)
        guard parameters.isValid else { throw .invalidParameters }
        return parameters
    }
}
