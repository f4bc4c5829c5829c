import BluetoothBase

/// Requests from the peer.
extension CreditBasedChannels {
    /// Answers a request for one channel (Core 5.4, Vol 3, Part A, 4.22 and 4.23).
    mutating func answer(
        _ request: LECreditBasedConnectionRequest, admission: (UInt16) -> ChannelAdmission
    ) -> LECreditBasedConnectionResponse {
        let local: ChannelParameters
        switch admit(request.spsm, .leCreditBased, admission) {
        case .refused(let result): return LECreditBasedConnectionResponse(refusing: result)
        case .accepted(_, limit: ..<1): return LECreditBasedConnectionResponse(refusing: .noResourcesAvailable)
        case .accepted(let parameters, _): local = parameters
        }
        guard CreditBasedChannel.Kind.leCreditBased.allows(mtu: request.mtu, mps: request.mps) else {
            return LECreditBasedConnectionResponse(refusing: .unacceptableParameters)
        }
        if let refusal = refusal(of: request.source) { return LECreditBasedConnectionResponse(refusing: refusal) }
        guard let index = insert(.leCreditBased, request.spsm, local, .open) else {
            return LECreditBasedConnectionResponse(refusing: .noResourcesAvailable)
        }
        at[index].open(
            remote: request.source, mtu: request.mtu, mps: request.mps, credits: request.initialCredits)
        events.append(.opened(at[index].id, by: .peer))
        return LECreditBasedConnectionResponse(
            destination: at[index].id.cid, mtu: local.mtu, mps: local.mps, initialCredits: local.window)
    }

    /// Answers a request for several channels, each of which is accepted or refused (4.25 and 4.26).
    mutating func answer(
        _ request: CreditBasedConnectionRequest, admission: (UInt16) -> ChannelAdmission
    ) -> CreditBasedConnectionResponse {
        var response = CreditBasedConnectionResponse(
            mtu: 0, mps: 0, initialCredits: 0, result: .successful,
            destinations: request.sources.map { _ in 0 })
        let local: ChannelParameters
        var limit: Int
        switch admit(request.spsm, .enhanced, admission) {
        case .refused(let result):
            response.result = result
            return response
        case .accepted(let parameters, let room): (local, limit) = (parameters, room)
        }
        // Invalid rather than unacceptable: these are outside the specification's range, which this host does not
        // narrow.
        guard CreditBasedChannel.Kind.enhanced.allows(mtu: request.mtu, mps: request.mps), request.initialCredits > 0
        else {
            response.result = .invalidParameters
            return response
        }
        for (number, source) in request.sources.enumerated() {
            if let refusal = refusal(of: source) {
                response.result = refusal
                continue
            }
            guard limit > 0, let index = insert(.enhanced, request.spsm, local, .open) else {
                response.result = .noResourcesAvailable
                continue
            }
            at[index].open(remote: source, mtu: request.mtu, mps: request.mps, credits: request.initialCredits)
            limit -= 1
            response.destinations[number] = at[index].id.cid
            (response.mtu, response.mps, response.initialCredits) = (local.mtu, local.mps, local.window)
            events.append(.opened(at[index].id, by: .peer))
        }
        return response
    }

    /// Decides on a request for a service. Local parameters that are not valid for the kind of channel refuse it.
    private func admit(
        _ spsm: UInt16, _ kind: CreditBasedChannel.Kind, _ admission: (UInt16) -> ChannelAdmission
    ) -> ChannelAdmission {
        // Enhanced ATT bearers are channels of the enhanced mode only (Vol 3, Part F, 3.2.11).
        guard SPSM.all.contains(spsm), kind == .enhanced || spsm != SPSM.enhancedATT else {
            return .refused(.spsmNotSupported)
        }
        let admission = admission(spsm)
        if case .accepted(let parameters, _) = admission, !parameters.isValid(for: kind) {
            return .refused(.noResourcesAvailable)
        }
        return admission
    }

    /// Why the peer cannot use this endpoint; nil if it can.
    private func refusal(of source: ChannelIdentifier) -> CreditBasedConnectionResult? {
        guard source.isLEDynamic else { return .invalidSourceCID }
        return index(ofRemote: source) == nil ? nil : .sourceCIDAlreadyAllocated
    }

    /// Applies the peer's reconfiguration to all of the channels or to none (4.27 and 4.28).
    mutating func answer(_ request: CreditBasedReconfigureRequest) -> CreditBasedReconfigureResponse {
        guard CreditBasedChannel.Kind.enhanced.allows(mtu: request.mtu, mps: request.mps),
            Set(request.channels).count == request.channels.count
        else { return CreditBasedReconfigureResponse(.otherUnacceptableParameters) }
        let indices = request.channels.compactMap { index(ofRemote: $0) }
            .filter { at[$0].isOpen && at[$0].kind == .enhanced }
        guard indices.count == request.channels.count else {
            return CreditBasedReconfigureResponse(.invalidDestinationCID)
        }
        guard indices.allSatisfy({ request.mtu >= at[$0].peerMTU }) else {
            return CreditBasedReconfigureResponse(.mtuReductionNotAllowed)
        }
        guard indices.count == 1 || indices.allSatisfy({ request.mps >= at[$0].peerMPS }) else {
            return CreditBasedReconfigureResponse(.mpsReductionNotAllowed)
        }
        for index in indices {
            at[index].peerMTU = request.mtu
            at[index].peerMPS = request.mps
            events.append(.limitsChanged(at[index].id))
        }
        return CreditBasedReconfigureResponse(.successful)
    }

    /// The answer to a peer that wants to close a channel (4.6).
    enum DisconnectionAnswer {
        case respond
        /// The endpoint exists, but belongs to another channel of the peer: the request is dropped.
        case ignore
        case reject
    }

    mutating func answer(_ request: DisconnectionRequest) -> DisconnectionAnswer {
        let index = Int(request.destination.rawValue) - Int(ChannelIdentifier.leDynamicRange.lowerBound)
        guard at.indices.contains(index), at[index].hasRemote else { return .reject }
        guard at[index].remote == request.source else { return .ignore }
        let id = at[index].id
        if at[index].isOpen { events.append(.closed(id, .byPeer)) }
        // A local request to close the channel may be pending as well.
        requests.removeAll { if case .disconnect(id) = $0.kind { true } else { false } }
        disconnected(index)
        return .respond
    }

    /// Handles credits (4.24). Credits for a channel that does not exist, and an indication of zero credits, are
    /// ignored (10.1).
    mutating func take(_ credit: FlowControlCredit) {
        guard credit.credits > 0, let index = index(ofRemote: credit.channel), at[index].isOpen else { return }
        let credits = at[index].sendCredits + Int(credit.credits)
        guard credits <= Int(UInt16.max) else { return end(index, .violated(.creditOverflow)) }
        at[index].credits = credits
    }
}
