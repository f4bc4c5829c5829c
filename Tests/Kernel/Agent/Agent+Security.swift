import BluetoothLE

/// What the agent does in pairing.
extension Agent {
    /// Answers for the person: reports each question as an event `asked`, which the call `answerPairing` answers.
    func beAgent(_ request: Request) async throws -> Reply {
        guard let capability = request.capability.flatMap(IOCapability.init(named:)) else {
            throw AgentError("no such IO capability")
        }
        let adapter = try opened()
        pairingAgent?.cancel()
        let voice = Voice(agent: self, pairsOnDemand: request.pairsOnDemand ?? false)
        let agent: any PairingAgent =
            switch capability {
            case .noInputNoOutput: Consenting(voice: voice)
            case .displayOnly: Displaying(voice: voice)
            case .displayYesNo: Comparing(voice: voice)
            case .keyboardOnly: Entering(voice: voice)
            case .keyboardDisplay: DoingAll(voice: voice)
            }
        let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
        pairingAgent = Task {
            try await adapter.withPairingAgent(agent) {
                continuation.finish()
                // Until it is cancelled.
                for await _ in AsyncStream.makeStream(of: Void.self).stream {}
            }
        }
        for await _ in begun {}
        return Reply(id: request.id)
    }

    func answerPairing(_ request: Request) async throws -> Reply {
        let answer: Answer = request.passkey.map { .passkey($0) } ?? .decision(request.isAccepted ?? false)
        guard await questions.answer(answer) else { throw AgentError("nothing was asked") }
        return Reply(id: request.id)
    }

    func pair(_ request: Request) async throws -> Reply {
        let connection = try connection(request)
        try await connection.pair(PairRequest(requiresAuthentication: request.requiresAuthentication ?? false))
        return Reply(id: request.id, security: Security(connection.security))
    }

    func removeBond(_ request: Request) async throws -> Reply {
        let address = try address(request.address ?? "")
        try await opened().removeBond(with: PeerID(address))
        return Reply(id: request.id)
    }

    func tell(_ result: Result<PairingOutcome, PairingError>, _ connection: Connection) {
        var event = Event(event: "pairingEnded", connection: number(of: connection))
        switch result {
        case .success(let outcome):
            event.security = Security(
                isEncrypted: true, isAuthenticated: outcome.strength.isAuthenticated,
                usesSecureConnections: outcome.strength.usesSecureConnections, keySize: outcome.strength.keySize,
                isBonded: outcome.isBonded)
        case .failure(let error): event.reason = "\(error)"
        }
        output.write(event)
    }

    func ask(_ question: String, _ connection: Connection, number: UInt32? = nil) async -> Answer {
        await questions.ask(
            Event(event: "asked", connection: self.number(of: connection), question: question, number: number),
            output)
    }

    func show(_ passkey: UInt32, _ connection: Connection) {
        output.write(Event(event: "shown", connection: number(of: connection), number: passkey))
    }
}

extension Security {
    init(_ security: LinkSecurity) {
        self.init(
            isEncrypted: security.isEncrypted, isAuthenticated: security.isAuthenticated,
            usesSecureConnections: security.usesSecureConnections, keySize: security.encryptionKeySize,
            isBonded: security.isBonded)
    }
}

extension IOCapability {
    fileprivate init?(named name: String) {
        guard let found = Self.allCases.first(where: { "\($0)" == name }) else { return nil }
        self = found
    }
}

enum Answer: Sendable {
    case decision(Bool)
    case passkey(UInt32)

    var isYes: Bool { if case .decision(true) = self { true } else { false } }
}

/// The questions that wait for an answer, oldest first.
actor Questions {
    private var waiting: [CheckedContinuation<Answer, Never>] = []

    /// Puts a question, and returns the answer.
    func ask(_ question: Event, _ output: Output) async -> Answer {
        await withCheckedContinuation { continuation in
            waiting.append(continuation)
            output.write(question)
        }
    }

    /// False if there is no question.
    func answer(_ answer: Answer) -> Bool {
        guard !waiting.isEmpty else { return false }
        waiting.removeFirst().resume(returning: answer)
        return true
    }
}

// MARK: - An agent for each IO capability

/// What all of them share.
private struct Voice: Sendable {
    let agent: Agent
    let pairsOnDemand: Bool
}

private protocol Speaking: PairingAgent {
    var voice: Voice { get }
}

private struct Consenting: Speaking { let voice: Voice }
private struct Displaying: Speaking, PasskeyDisplay { let voice: Voice }
private struct Comparing: Speaking, NumberComparison { let voice: Voice }
private struct Entering: Speaking, PasskeyEntry { let voice: Voice }
private struct DoingAll: Speaking, NumberComparison, PasskeyEntry { let voice: Voice }

extension Speaking {
    var pairsOnDemand: Bool { voice.pairsOnDemand }

    func allowsPairing(with peer: Connection, features: PairingFeatures) async -> Bool {
        await voice.agent.ask("consent", peer).isYes
    }

    func showPasskey(_ passkey: UInt32, for peer: Connection) async { await voice.agent.show(passkey, peer) }

    func confirmNumber(_ number: UInt32, for peer: Connection) async -> Bool {
        await voice.agent.ask("compareNumbers", peer, number: number).isYes
    }

    func enterPasskey(for peer: Connection) async -> UInt32? {
        guard case .passkey(let passkey) = await voice.agent.ask("enterPasskey", peer) else { return nil }
        return passkey
    }
}
