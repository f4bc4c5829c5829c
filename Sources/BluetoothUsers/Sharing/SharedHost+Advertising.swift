import BluetoothBase
import BluetoothGAP
import BluetoothHost

/// The advertisement of one user.
struct AdvertisementRecord: Sendable {
    let call: UserCall
    let request: AdvertisingRequest
    /// When the advertisement ends automatically; nil for never.
    let end: Instant?
    /// Whether the user has been notified that the advertisement is on the air.
    var isStarted = false
}

/// Merges the advertisements of all users into one.
extension SharedHost {
    mutating func advertise(_ call: UserCall, _ request: AdvertisingRequest, at now: Instant) {
        if let refusal { return end(call, .failure(refusal)) }
        let end: Instant?
        do throws(HostError) {
            // Validate before anything is cancelled, so that an invalid request changes nothing.
            let parameters = try AdvertisingRequest.merged([request])
            end = parameters.limit.map { now.advanced(by: $0) }
        } catch {
            return self.end(call, .failure(error))
        }
        if let index = advertisements.firstIndex(where: { $0.call.user == call.user }) {
            let replaced = advertisements.remove(at: index)
            if !replaced.isStarted { self.end(replaced.call, .failure(.cancelled)) }
        }
        advertisements.append(AdvertisementRecord(call: call, request: request, end: end))
        updateAdvertising(at: now)
    }

    /// Advertises on behalf of all current users.
    mutating func updateAdvertising(at now: Instant) {
        guard !advertisements.isEmpty else { return host.stopAdvertising(at: now) }
        do throws(HostError) {
            var merged = try AdvertisingRequest.merged(advertisements.map(\.request))
            let end = advertisements.compactMap(\.end).min()
            merged.duration = end.map { max(now.duration(to: $0), .nanoseconds(1)) }
            try host.startAdvertising(merged, at: now)
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

    /// Ends the advertisements whose duration has elapsed. The others continue.
    mutating func advertisingEnded(at now: Instant) {
        let isOver = { (record: AdvertisementRecord) in record.end.map { $0 <= now } ?? false }
        let ended = advertisements.filter(isOver)
        advertisements.removeAll(where: isOver)
        for advertisement in ended where !advertisement.isStarted { end(advertisement.call, .failure(.timedOut)) }
        updateAdvertising(at: now)
    }

    /// Ends the new advertisements with the error. The previous ones continue.
    mutating func advertisingFailed(_ error: HostError, at now: Instant) {
        let refused = advertisements.filter { !$0.isStarted }
        advertisements.removeAll { !$0.isStarted }
        let reason = status == .lost ? HostError.adapterRemoved : error
        for advertisement in refused { end(advertisement.call, .failure(reason)) }
        // The controller is missing, so advertising resumes when it returns.
        if error == .notReady { return }
        // If no advertisement was new, nothing else can be tried.
        if refused.isEmpty { advertisements = [] }
        if !advertisements.isEmpty { updateAdvertising(at: now) }
    }

    /// Resumes advertising that the host stopped when the previous controller was lost.
    mutating func retryAdvertising(at now: Instant) {
        guard !advertisements.isEmpty, !host.isAdvertisingWanted() else { return }
        updateAdvertising(at: now)
    }
}

extension AdvertisingRequest {
    /// Merges the requests of several users: the first name, all services, connectable if any of them is, and the
    /// shortest interval.
    static func merged(_ requests: [AdvertisingRequest]) throws(HostError) -> AdvertisingParameters {
        guard var merged = requests.first else { throw .invalidParameters }
        for request in requests.dropFirst() {
            merged.advertisement.merge(request.advertisement)
            merged.isConnectable = merged.isConnectable || request.isConnectable
            // A single advertisement cannot be directed at one peer and open to all.
            if merged.peer != request.peer { merged.peer = nil }
            if request.interval.upperBound < merged.interval.upperBound { merged.interval = request.interval }
        }
        if requests.count == 1, let octets = merged.octets { return try parameters(of: merged, octets) }
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
        merged.duration = requests.count == 1 ? merged.duration : nil
        return try parameters(
            of: merged,
            Octets(advertisingData: payload.advertisingData, scanResponseData: payload.scanResponseData))
    }

    private static func parameters(
        of request: AdvertisingRequest, _ octets: Octets
    ) throws(HostError) -> AdvertisingParameters {
        var parameters = AdvertisingParameters(
            isConnectable: request.isConnectable, interval: request.interval, data: octets.advertisingData,
            scanResponse: octets.scanResponseData, peer: request.peer, duration: request.duration)
        parameters.peerResolvesAddresses = request.peerResolvesAddresses
        guard parameters.isValid else { throw .invalidParameters }
        return parameters
    }
}
