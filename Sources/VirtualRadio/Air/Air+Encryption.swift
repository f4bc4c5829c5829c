import BluetoothBase
import BluetoothHCI

/// Encryption Start (Core 5.4, Vol 6, Part B, 5.1.3.1). Packets on the virtual air are not encrypted: whether the ends
/// can communicate afterwards only depends on whether their keys are equal.
extension Air {
    mutating func enableEncryption(_ command: LEEnableEncryption, on index: Int, at now: Instant) -> HCIStatus {
        guard let (link, role) = find(command.connectionHandle, on: index) else {
            return .unknownConnectionIdentifier
        }
        guard role == .central, links[link].carriesData,
            controllers[index].configuration.features.contains(.encryption)
        else { return .commandDisallowed }
        return start(
            .encryptionRequest(command), on: link, from: role, at: links[link].event(after: now, for: role))
    }

    /// The time within which the other end must answer a procedure, in nanoseconds (Vol 6, Part B, 5.2).
    private static let procedureResponseTimeout: UInt64 = 40_000_000_000

    /// The request has reached the peripheral, whose host is now asked for the key.
    mutating func deliverEncryptionRequest(_ request: LEEnableEncryption, on link: Int, at time: Instant) {
        let central = links[link].central, peripheral = links[link].peripheral
        guard controllers[peripheral.controller].configuration.features.contains(.encryption) else {
            return controllers[central.controller].reportEncryption(
                central.handle, .unsupportedRemoteFeature, isEnabled: links[link].encryption == .on, isRefresh: false)
        }
        links[link].encryption = .awaitingKey(
            central: request.longTermKey, wasOn: links[link].encryption == .on)
        let isAsked = controllers[peripheral.controller].reportLongTermKeyRequest(
            peripheral.handle, request.randomNumber, request.encryptedDiversifier)
        guard isAsked else { return scheduleEncryptionReject(on: link, at: time) }
        links[link].schedule(
            .responseTimeout, from: .central, at: time.advanced(nanoseconds: Self.procedureResponseTimeout))
    }

    /// The answer of the peripheral's host: a key, or nil if it has none.
    mutating func answerKeyRequest(
        _ handle: ConnectionHandle, _ key: UInt128?, on index: Int, at now: Instant
    ) -> HCIStatus {
        guard let (link, role) = find(handle, on: index) else { return .unknownConnectionIdentifier }
        guard role == .peripheral, case .awaitingKey(let centralKey, let wasOn) = links[link].encryption,
            !links[link].isInProgress(.peripheral, { $0.isSameKind(as: .encryptionReject) })
        else { return .commandDisallowed }
        links[link].cancel(.responseTimeout)
        if let key {
            links[link].encryption = .starting(central: centralKey, peripheral: key, wasOn: wasOn)
            links[link].schedule(
                .encryptionStart, from: .central, at: links[link].event(after: now, for: .central, skipping: 1))
            reschedule(link)
        } else {
            scheduleEncryptionReject(on: link, at: now)
        }
        return .success
    }

    private mutating func scheduleEncryptionReject(on link: Int, at now: Instant) {
        links[link].schedule(
            .encryptionReject, from: .peripheral, at: links[link].event(after: now, for: .peripheral))
        reschedule(link)
    }

    /// Both ends have a key and confirm it, encrypted. If the keys differ, neither can decrypt the other's packets.
    mutating func finishEncryption(on link: Int, at time: Instant) {
        guard case .starting(let centralKey, let peripheralKey, let wasOn) = links[link].encryption else { return }
        guard centralKey == peripheralKey else { return close(link, reason: .micFailure, at: time) }
        links[link].encryption = .on
        for role in LinkRole.allCases {
            let end = links[link][role]
            controllers[end.controller].reportEncryption(end.handle, .success, isEnabled: true, isRefresh: wasOn)
            links[link].wake(role, at: time)
        }
    }

    /// The peripheral has no key. A link that was already encrypted cannot return to that state, and ends (5.1.3.2).
    mutating func finishEncryptionReject(on link: Int, at time: Instant) {
        guard case .awaitingKey(_, let wasOn) = links[link].encryption else { return }
        guard !wasOn else { return close(link, reason: .pinOrKeyMissing, at: time) }
        links[link].encryption = .off
        let central = links[link].central
        controllers[central.controller].reportEncryption(
            central.handle, .pinOrKeyMissing, isEnabled: false, isRefresh: false)
        for role in LinkRole.allCases { links[link].wake(role, at: time) }
    }
}
