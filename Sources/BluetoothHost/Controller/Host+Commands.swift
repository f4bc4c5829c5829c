import BluetoothBase
import BluetoothHCI

/// Commands to the controller, and their answers.
extension Host {
    /// Sends a command as soon as the controller accepts it. Returns false if too many commands are waiting.
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

    /// Sends a command for a caller or a peer. If too many commands are waiting, the command is refused, so that the
    /// queue keeps room for the commands that the host itself depends on.
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

    /// A controller that leaves a command unanswered cannot be trusted with any other command, so the host resets it.
    mutating func fireCommands(at now: Instant) {
        guard let expired = commands.popExpired(at: now) else { return }
        abandon(expired, .timedOut)
        recover(from: .commandTimedOut(expired.opcode), at: now)
    }

    /// Takes back the commands for a connection that has ended, unless they have already been sent to the controller.
    /// Another connection may have the same handle by then, and would be disconnected, or be given a key, by mistake.
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

    /// Ends everything that is waiting for the answer to a command.
    mutating func abandonCommands(_ error: HostError) {
        while let command = commands.popAny() { abandon(command, error) }
    }

    private mutating func abandon(_ command: AbandonedCommand, _ error: HostError) {
        // Everything else starts again once the controller is up, or ends with its link.
        guard let request = purposes.remove(command.token).request else { return }
        events.append(.link(request.link, .requestFailed(request.identifier, error)))
    }
}
