import BluetoothBase

/// The peer's responses to local requests.
extension CreditBasedChannels {
    /// Handles a response. A response that answers no request is dropped: one that is unsolicited, late, repeated, of
    /// another kind, or malformed.
    ///
    /// - Returns: Whether it answered a request.
    mutating func receiveResponse(_ command: borrowing SignallingCommand, as code: SignallingCode) -> Bool {
        let answered = command.identifier
        guard let place = requests.firstIndex(where: { $0.identifier == answered }) else { return false }
        let request = requests[place]
        let data = ByteReader(command.data)
        switch (code, request.kind) {
        case (.commandReject, _):
            requests.remove(at: place)
            end(request, .notSupported)
        case (.leCreditBasedConnectionResponse, .open(let ids, .leCreditBased)):
            guard let response = try? LECreditBasedConnectionResponse(decoding: data) else { return false }
            requests.remove(at: place)
            open(ids[0], Granted(response), response.destination)
        case (.creditBasedConnectionResponse, .open(let ids, .enhanced)):
            guard let response = try? CreditBasedConnectionResponse(decoding: data) else { return false }
            if response.result.isPending {
                // The peer has understood the request. Its answer may take longer (6.2.2), but not forever.
                guard !request.isExtended else { return true }
                requests[place].isExtended = true
                requests[place].deadline = request.deadline.advanced(by: SignallingChannel.extendedTimeout)
                return true
            }
            requests.remove(at: place)
            open(ids, response)
        case (.creditBasedReconfigureResponse, .reconfigure(let ids, let mtu, let mps)):
            guard let response = try? CreditBasedReconfigureResponse(decoding: data) else { return false }
            requests.remove(at: place)
            reconfigured(ids, mtu, mps, response.result)
        case (.disconnectionResponse, .disconnect(let id)):
            guard let response = try? DisconnectionResponse(decoding: data), response.source == id.cid,
                response.destination == at[id.index].remote
            else { return false }
            requests.remove(at: place)
            disconnected(id.index)
        default: return false
        }
        return true
    }

    /// The limits that a response grants to each channel.
    private struct Granted {
        var mtu: UInt16
        var mps: UInt16
        var credits: UInt16
        var result: CreditBasedConnectionResult

        init(_ response: LECreditBasedConnectionResponse) {
            (mtu, mps, credits) = (response.mtu, response.mps, response.initialCredits)
            result = response.result
        }

        init(_ response: CreditBasedConnectionResponse) {
            (mtu, mps, credits) = (response.mtu, response.mps, response.initialCredits)
            result = response.result
        }
    }

    /// Handles the response for several channels: an endpoint for each, or 0 for a refused channel.
    private mutating func open(_ ids: [CreditBasedChannel.ID], _ response: CreditBasedConnectionResponse) {
        for (number, id) in ids.enumerated() {
            var granted = Granted(response)
            let destination = number < response.destinations.count ? response.destinations[number] : 0
            if destination != 0, granted.result.opensSome { granted.result = .successful }
            open(id, granted, destination)
        }
    }

    private mutating func open(
        _ id: CreditBasedChannel.ID, _ granted: Granted, _ destination: ChannelIdentifier
    ) {
        guard granted.result == .successful else { return failOpening(id, .refused(granted.result)) }
        guard destination.isLEDynamic else { return failOpening(id, .invalidResponse) }
        if let other = index(ofRemote: destination) {
            // The peer has assigned an endpoint twice, so the two channels cannot be distinguished (4.26).
            failOpening(id, .invalidResponse)
            if at[other].isOpen { end(other, .violated(.cidReused)) }
            return
        }
        let isWanted = index(of: id) != nil
        at[id.index].open(
            remote: destination, mtu: granted.mtu, mps: granted.mps, credits: granted.credits)
        guard isWanted, at[id.index].kind.allows(mtu: granted.mtu, mps: granted.mps) else {
            if isWanted { events.append(.openingFailed(id, .invalidResponse)) }
            return disconnect(id.index, toReport: nil)
        }
        events.append(.opened(id, by: .thisDevice))
    }

    private mutating func reconfigured(
        _ ids: [CreditBasedChannel.ID], _ mtu: UInt16, _ mps: UInt16, _ result: CreditBasedReconfigureResult
    ) {
        guard result == .successful else { return events.append(.reconfigured(ids, .refused(result))) }
        for id in ids {
            guard let index = index(of: id) else { continue }
            at[index].reconfigure(mtu: mtu, mps: mps)
        }
        events.append(.reconfigured(ids, nil))
    }
}

extension CreditBasedConnectionResult {
    /// Whether the answer is still to come (4.26).
    var isPending: Bool { self == .pending || self == .pendingAuthentication || self == .pendingAuthorization }

    /// Whether some of the requested channels may have been opened anyway.
    var opensSome: Bool {
        self == .successful || self == .noResourcesAvailable || self == .invalidSourceCID
            || self == .sourceCIDAlreadyAllocated
    }
}
