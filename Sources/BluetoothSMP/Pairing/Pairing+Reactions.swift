import BluetoothBase

/// The reactions to PDUs and answers, in each state.
extension Pairing {
    static func decoded(_ pdu: Span<UInt8>) -> Result<SecurityManagerPDU, PairingFailure> {
        do throws(DecodingFailure) {
            return .success(try SecurityManagerPDU(decoding: pdu))
        } catch {
            return .failure(PairingFailure(error))
        }
    }

    /// The octets of Pairing Request and Pairing Response as an integer.
    static func integer(_ pdu: Span<UInt8>) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<min(7, pdu.count) { value |= UInt64(pdu[index]) << UInt64(8 * index) }
        return value
    }

    /// Nil if a PDU changes nothing, not even the timeout.
    ///
    /// - Parameter octets: The PDU as received, including reserved bits.
    func reaction(
        to pdu: SecurityManagerPDU, octets: UInt64, _ resources: inout SecurityResources, at now: Instant
    ) throws(PairingFailure) -> PairingReaction? {
        switch pdu {
        case .pairingFailed(let reason):
            return isKnownToPeer ? PairingReaction(.idle, [.ended(.failure(.peer(reason)))]) : nil
        case .securityRequest(let requirements):
            guard role == .central else { throw .commandNotSupported }
            // A central that is already pairing ignores it (Vol 3, Part H, 2.4.6).
            return isUnderWay ? nil : PairingReaction(.idle, [.securityRequested(requirements)])
        case .pairingRequest where role == .central:
            throw .commandNotSupported
        default:
            break
        }
        switch state {
        case .idle, .waiting, .requested:
            guard case .pairingRequest(let request) = pdu else { throw .unspecifiedReason }
            let isBlocked = resources.attempts.isBlocked(remoteAddress, at: now)
            // An attempt of this device continues to wait.
            if isBlocked, case .waiting = state { throw .repeatedAttempts }
            return considered(request, octets: octets, isBlocked: isBlocked, resources.policy)
        case .awaitingResponse(let parameters, let request):
            guard case .pairingResponse(let response) = pdu else { throw .unspecifiedReason }
            try response.validate()
            let requestOctets = request.octets << 8 | UInt64(SecurityManagerCode.pairingRequest.rawValue)
            return try agreed(
                FeatureExchange(
                    role: role, localAddress: localAddress, remoteAddress: remoteAddress, request: request,
                    response: response,
                    requestOctets: requestOctets, responseOctets: octets), parameters, &resources)
        case .consent, .dead: throw .unspecifiedReason
        case .legacy(let phase): return try phase.receive(pdu, &resources)
        case .publicKeys(let phase): return try phase.receive(pdu, &resources)
        case .numbers(let phase): return try phase.receive(pdu, &resources)
        case .passkey(let phase): return try phase.receive(pdu, &resources)
        case .outOfBand(let phase): return try phase.receive(pdu, &resources)
        case .check(let phase): return try phase.receive(pdu, &resources)
        case .encryption(let phase): return try phase.receive(pdu)
        case .distribution(let phase): return try phase.receive(pdu, &resources)
        }
    }

    /// Nil if no such answer was requested.
    func reaction(
        to answer: PairingAnswer, _ resources: inout SecurityResources
    ) throws(PairingFailure) -> PairingReaction? {
        switch answer {
        case .refuse:
            if let reasonOfRefusal { throw reasonOfRefusal }
            return nil
        case .accept(let parameters):
            switch state {
            case .consent(let request, let octets): return try respond(to: request, octets, parameters, &resources)
            case .numbers(let phase): return try phase.accept(&resources)
            case .idle, .dead, .waiting, .requested, .awaitingResponse, .legacy, .publicKeys, .passkey, .outOfBand,
                .check, .encryption, .distribution:
                return nil
            }
        case .passkey(let passkey):
            guard reasonOfRefusal == .passkeyEntryFailed else { return nil }
            guard passkey <= 999_999 else { throw .passkeyEntryFailed }
            switch state {
            case .legacy(let phase): return try phase.answer(passkey: passkey, &resources)
            case .passkey(let phase): return try phase.answer(passkey: passkey, &resources)
            case .idle, .dead, .waiting, .requested, .consent, .awaitingResponse, .publicKeys, .numbers, .outOfBand,
                .check, .encryption, .distribution:
                return nil
            }
        }
    }

    /// The failure sent to the peer if the open question is answered with no; nil if no question is open.
    var reasonOfRefusal: PairingFailure? {
        switch state {
        case .consent: .pairingNotSupported
        case .legacy(let phase): phase.asksForPasskey ? .passkeyEntryFailed : nil
        case .passkey(let phase): phase.asksForPasskey ? .passkeyEntryFailed : nil
        case .numbers(let phase): phase.asksForComparison ? .numericComparisonFailed : nil
        case .idle, .dead, .waiting, .requested, .awaitingResponse, .publicKeys, .outOfBand, .check, .encryption,
            .distribution:
            nil
        }
    }

    /// Asks the application for consent, unless the request cannot succeed.
    private func considered(
        _ request: PairingFeatures, octets: UInt64, isBlocked: Bool, _ policy: SecurityPolicy
    ) -> PairingReaction {
        do throws(PairingFailure) {
            try Self.check(request, isBlocked: isBlocked, policy)
        } catch {
            // The peer has started a pairing, so its end is reported to the caller.
            return PairingReaction(.idle, [.send(.pairingFailed(error)), .ended(.failure(.local(error)))])
        }
        return PairingReaction(.consent(request, octets: octets), [.ask(.consent(request))])
    }

    /// Throws if a request cannot succeed, whatever the application answers.
    private static func check(
        _ request: PairingFeatures, isBlocked: Bool, _ policy: SecurityPolicy
    ) throws(PairingFailure) {
        if isBlocked { throw .repeatedAttempts }
        try request.validate()
        if policy.requiresSecureConnections, !request.requirements.contains(.secureConnections) {
            throw .authenticationRequirements
        }
        if request.maximumKeySize < policy.keySizes.lowerBound { throw .encryptionKeySize }
    }

    private func respond(
        to request: PairingFeatures, _ octets: UInt64, _ parameters: PairingParameters,
        _ resources: inout SecurityResources
    ) throws(PairingFailure) -> PairingReaction {
        let response = PairingFeatures(response: parameters, to: request, resources)
        let responseOctets = response.octets << 8 | UInt64(SecurityManagerCode.pairingResponse.rawValue)
        let next = try agreed(
            FeatureExchange(
                role: role, localAddress: localAddress, remoteAddress: remoteAddress, request: request,
                response: response, requestOctets: octets,
                responseOctets: responseOctets), parameters, &resources)
        return next.after(.send(.pairingResponse(response)))
    }

    private func agreed(
        _ exchange: FeatureExchange, _ parameters: PairingParameters, _ resources: inout SecurityResources
    ) throws(PairingFailure) -> PairingReaction {
        let agreement = try exchange.agreement(parameters, resources)
        return agreement.strength.usesSecureConnections
            ? try PublicKeyExchange.begin(agreement, &resources) : try LegacyAuthentication.begin(agreement, &resources)
    }
}
