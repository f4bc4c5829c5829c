import BluetoothBase
import BluetoothHCI

/// Commands on their way to the controller, and their answers on the way back.
extension Host {
    /// Sends a command as soon as the controller takes it. False where too many wait already.
    @discardableResult
    mutating func send<Command: HCICommand>(_ command: Command, for purpose: CommandPurpose, at now: Instant) -> Bool {
        let token = purposes.insert(purpose)
        do {
            try commands.enqueue(command, token: token, at: now)
        } catch {
            _ = purposes.remove(token)
            return false
        }
        commands.transmit(into: &outbox, at: now)
        return true
    }

    /// Sends a command that somebody asked for, unless too many wait already: then it is refused, so that those the
    /// host itself depends on find room.
    mutating func sendOptional<Command: HCICommand>(
        _ command: Command, for purpose: CommandPurpose, at now: Instant
    ) -> Bool {
        hasRoomForOptionalCommand && send(command, for: purpose, at: now)
    }

    /// Whether `sendOptional` would send a command now.
    var hasRoomForOptionalCommand: Bool { commands.waiting < Self.optionalCommandLimit }

    mutating func commandCompleted(_ event: borrowing CommandComplete, at now: Instant) {
        if let completion = commands.receive(event, at: now) { answered(completion, at: now) }
        commands.transmit(into: &outbox, at: now)
    }

    mutating func commandStatusReceived(_ event: CommandStatus, at now: Instant) {
        if let completion = commands.receive(event, at: now) { answered(completion, at: now) }
        commands.transmit(into: &outbox, at: now)
    }

    private mutating func answered(_ completion: borrowing CommandCompletion, at now: Instant) {
        let status = completion.status
        switch purposes.remove(completion.token) {
        case .bringUp(let step): proceed(lifecycle.answered(step, completion, at: now), at: now)
        case .scan(let step): answered(step, status, at: now)
        case .advertise(let step, let handle): answered(step, of: handle, status, at: now)
        case .connect(let step): answered(step, status, at: now)
        case .synchronize(let step): answered(step, status, at: now)
        case .request(let request, let link):
            events.append(
                .link(
                    link, status == .success ? .requestCompleted(request) : .requestFailed(request, .controller(status))
                ))
        case .disconnect(let link): disconnectAnswered(status, link, at: now)
        case .readRSSI(let request, let link): rssiAnswered(request, of: link, completion)
        case .connectionUpdate(let link): connectionUpdateAnswered(status, link, at: now)
        case .setPHY(let link): phyAnswered(status, link, at: now)
        case .power(let answer, let request, let link): powerAnswered(answer, request, link, completion, at: now)
        case .encrypt(let link): encryptionAnswered(status, link, at: now)
        case .privacy: privacyAnswered(status, at: now)
        case .none: return
        }
    }

    private mutating func rssiAnswered(
        _ request: RequestIdentifier, of link: LinkIdentifier, _ completion: borrowing CommandCompletion
    ) {
        guard completion.status == .success else {
            return events.append(.link(link, .requestFailed(request, .controller(completion.status))))
        }
        do {
            let returned = try completion.decodeReturnParameters(of: ReadRSSI.self)
            events.append(.link(link, .rssiRead(request, returned.rssi)))
        } catch {
            events.append(.link(link, .requestFailed(request, .controller(.unspecifiedError))))
        }
    }

    /// A controller that leaves a command unanswered cannot be trusted with any other command either: start over.
    mutating func fireCommands(at now: Instant) {
        guard let expired = commands.popExpired(at: now) else { return }
        abandon(expired, .timedOut)
        recover(from: .commandTimedOut(expired.opcode), at: now)
    }

    /// Takes back the commands for a connection that has ended, as far as they have not gone to the controller: another one may have
    /// its handle by then, and would be disconnected, or get a key, in its place.
    mutating func dropCommands(for connection: ConnectionHandle, at now: Instant) {
        var opcodes: [HCIOpcode] = []
        outbox.removeAll { packet in
            guard packet.isCommand(for: connection), let opcode = packet.commandOpcode else { return false }
            opcodes.append(opcode)
            return true
        }
        for opcode in opcodes {
            if let command = commands.takeBack(opcode, at: now) { abandon(command, .noSuchLink) }
        }
        while let command = commands.popWaiting(for: connection) { abandon(command, .noSuchLink) }
        commands.transmit(into: &outbox, at: now)
    }

    /// Ends everything that waits for the answer to a command.
    mutating func abandonCommands(_ error: HostError) {
        while let command = commands.popAny() { abandon(command, error) }
    }

    private mutating func abandon(_ command: AbandonedCommand, _ error: HostError) {
        // Everything else begins again once the controller is up, or ends with its link.
        guard let request = purposes.remove(command.token).request else { return }
        events.append(.link(request.link, .requestFailed(request.identifier, error)))
    }
}
