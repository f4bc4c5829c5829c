import BluetoothBase
import BluetoothHCI

// MARK: - Connection parameters

extension Air {
    /// LE Connection Update: a central decides, a peripheral requests (Core 5.4, Vol 4, Part E, 7.8.18).
    mutating func updateConnection(_ command: LEConnectionUpdate, on index: Int, at now: Instant) -> HCIStatus {
        guard let (link, role) = find(command.connectionHandle, on: index) else {
            return .unknownConnectionIdentifier
        }
        let range = command.connectionParameters
        guard range.isValid else { return .invalidCommandParameters }
        switch role {
        case .central:
            return start(.connectionUpdate(range.chosen), on: link, from: role, at: links[link].instant(after: now))
        case .peripheral:
            guard controllers[index].configuration.features.contains(.connectionParametersRequest) else {
                return .commandDisallowed
            }
            let due = links[link].event(after: now, for: role)
            return start(.parameterRequest(range), on: link, from: role, at: due)
        }
    }

    /// The request has reached the central. Its host decides, if both host and controller support that.
    mutating func deliverParameterRequest(_ range: LEConnectionParameters, on link: Int, at time: Instant) {
        let central = links[link].central
        let canAsk =
            controllers[central.controller].configuration.features.contains(.connectionParametersRequest)
            && controllers[central.controller].reportParameterRequest(central.handle, range)
        if canAsk {
            links[link].isParameterRequestPending = true
        } else {
            links[link].schedule(
                .parameterReject(.unsupportedRemoteFeature), from: .peripheral,
                at: links[link].event(after: time, for: .central))
        }
    }

    mutating func acceptParameters(
        _ reply: LERemoteConnectionParameterRequestReply, on index: Int, at now: Instant
    ) -> HCIStatus {
        guard let (link, role) = find(reply.connectionHandle, on: index) else { return .unknownConnectionIdentifier }
        guard role == .central, links[link].isParameterRequestPending else { return .commandDisallowed }
        guard reply.connectionParameters.isValid else { return .invalidCommandParameters }
        links[link].isParameterRequestPending = false
        links[link].schedule(
            .connectionUpdate(reply.connectionParameters.chosen), from: .peripheral, at: links[link].instant(after: now)
        )
        reschedule(link)
        return .success
    }

    mutating func rejectParameters(
        _ reply: LERemoteConnectionParameterRequestNegativeReply, on index: Int, at now: Instant
    ) -> HCIStatus {
        guard let (link, role) = find(reply.connectionHandle, on: index) else { return .unknownConnectionIdentifier }
        guard role == .central, links[link].isParameterRequestPending else { return .commandDisallowed }
        links[link].isParameterRequestPending = false
        links[link].schedule(
            .parameterReject(reply.reason), from: .peripheral, at: links[link].event(after: now, for: role))
        reschedule(link)
        return .success
    }

    mutating func finishParameterReject(_ status: HCIStatus, on link: Int) {
        let peripheral = links[link].peripheral
        controllers[peripheral.controller].reportConnectionUpdate(
            peripheral.handle, status, links[link].parameters)
    }

    /// The instant of the update has been reached: a new event clock starts, and queued data waits for its first event.
    mutating func finishConnectionUpdate(
        _ parameters: ConnectionTiming, on link: Int, _ initiator: LinkRole, at time: Instant
    ) {
        let hasChanged = links[link].parameters != parameters
        links[link].restartClock(parameters, at: time)
        for role in LinkRole.allCases where hasChanged || role == initiator {
            let end = links[link][role]
            controllers[end.controller].reportConnectionUpdate(end.handle, .success, parameters)
        }
    }
}

// MARK: - Data length

extension Air {
    /// LE Set Data Length (Core 5.4, Vol 4, Part E, 7.8.33).
    mutating func setDataLength(_ command: LESetDataLength, on index: Int, at now: Instant) -> HCIStatus {
        guard let (link, role) = find(command.connectionHandle, on: index) else {
            return .unknownConnectionIdentifier
        }
        guard command.transmit.isValid else { return .invalidCommandParameters }
        links[link][role].preferredOctets = command.transmit.octets
        // A second request while the first is in progress needs no second exchange: both ends then use the current
        // values.
        _ = start(
            .dataLengthUpdate, on: link, from: role, at: links[link].event(after: now, for: role, skipping: 1))
        return .success
    }

    mutating func finishDataLengthUpdate(on link: Int) {
        let isPossible = LinkRole.allCases.allSatisfy { role in
            controllers[links[link][role].controller].configuration.features.contains(.dataPacketLengthExtension)
        }
        guard isPossible else { return }
        var hasChanged = false
        for role in LinkRole.allCases where links[link][role].transmitOctets != links[link][role].preferredOctets {
            links[link][role].transmitOctets = links[link][role].preferredOctets
            hasChanged = true
        }
        guard hasChanged else { return }
        for role in LinkRole.allCases {
            let own = links[link][role], peer = links[link][role.other]
            controllers[own.controller].reportDataLength(
                own.handle, transmit: LEDataLength(octets: own.transmitOctets),
                receive: LEDataLength(octets: peer.transmitOctets))
        }
    }
}

// MARK: - PHY

extension Air {
    /// LE Set PHY (Core 5.4, Vol 4, Part E, 7.8.49).
    mutating func setPHY(_ command: LESetPHY, on index: Int, at now: Instant) -> HCIStatus {
        guard let (link, role) = find(command.connectionHandle, on: index) else {
            return .unknownConnectionIdentifier
        }
        let features = LinkRole.allCases.map { controllers[links[link][$0].controller].configuration.features }
        let canUse2M = features.allSatisfy { $0.contains(.le2MPHY) }
        let canUseCoded = features.allSatisfy { $0.contains(.leCodedPHY) }
        func choose(_ phys: LEPHYs, orLeave isFree: Bool, _ current: LEPHY) -> LEPHY? {
            if isFree { return current }
            if canUse2M, phys.contains(.le2M) { return .le2M }
            if phys.contains(.le1M) { return .le1M }
            if canUseCoded, phys.contains(.leCoded) { return .leCoded }
            // A PHY that this controller does not support is an error. One that only the peer does not support changes
            // nothing.
            let own = controllers[index].configuration.features
            let isOwn =
                phys.contains(.le2M) && own.contains(.le2MPHY) || phys.contains(.leCoded) && own.contains(.leCodedPHY)
            return isOwn ? current : nil
        }
        let sends = choose(
            command.transmit, orLeave: command.withoutPreference.contains(.transmit), links[link][role].transmitPHY)
        let receives = choose(
            command.receive, orLeave: command.withoutPreference.contains(.receive),
            links[link][role.other].transmitPHY)
        guard let sends, let receives else { return .unsupportedFeatureOrParameterValue }
        return start(
            .phyUpdate(
                central: role == .central ? sends : receives, peripheral: role == .central ? receives : sends),
            on: link, from: role, at: links[link].instant(after: now))
    }

    mutating func finishPHYUpdate(central: LEPHY, peripheral: LEPHY, on link: Int, _ initiator: LinkRole) {
        let hasChanged =
            links[link].central.transmitPHY != central || links[link].peripheral.transmitPHY != peripheral
        links[link].central.transmitPHY = central
        links[link].peripheral.transmitPHY = peripheral
        for role in LinkRole.allCases where hasChanged || role == initiator {
            let own = links[link][role], peer = links[link][role.other]
            controllers[own.controller].reportPHYUpdate(
                own.handle, transmit: own.transmitPHY, receive: peer.transmitPHY)
        }
    }
}
