import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import BluetoothSMP

/// The user as pairing agent: whether it answers questions about pairings, and the questions that are pending.
final class UserAgent: UserPart {
    let context: UserContext
    /// The agent's behavior; nil if this user is not the pairing agent.
    private var agent: SimulatedAgent?
    private var lostAgencyAt: Instant?
    /// Pending questions, and the number of the last question on each link.
    private var questions: [LinkIdentifier: PairingQuestion] = [:]
    private var questionNumbers: [LinkIdentifier: Int] = [:]
    private var lastQuestion = 0
    /// Links on which the agent was asked or shown something, so that the end of the pairing must be reported.
    private var awaitingEnd: Set<LinkIdentifier> = []

    init(_ context: UserContext) { self.context = context }

    /// Whether the agent pairs as soon as an operation needs a pairing.
    var pairsOnDemand: Bool { agent?.description.pairsOnDemand == true }

    /// Whether the user disconnects as soon as a pairing has succeeded.
    var leavesAtOnce: Bool { agent?.leavesAtOnce == true }

    // MARK: - Turns

    func become(_ new: SimulatedAgent) {
        noteWish()
        agent = new
        post(.setPairingAgent(new.description), CallLedger.Call(kind: .beAgent))
        // Only the last agent counts.
        for case let other as CallUser in run.users[station] where other.parts.agent !== self {
            other.parts.agent.lose()
        }
    }

    func resign() {
        guard agent != nil else { return }
        lose()
        post(.setPairingAgent(nil), CallLedger.Call(kind: .beNoAgent))
    }

    /// Another user becomes the agent, or no user is.
    private func lose() {
        guard agent != nil else { return }
        noteWish()
        agent = nil
        lostAgencyAt = now
        questions = [:]
        run.pairings.noteCancelled(station)
    }

    /// The user has left.
    func leave() {
        noteWish()
        agent = nil
        questions = [:]
        awaitingEnd = []
        run.pairings.noteCancelled(station)
    }

    /// Notes that an agent existed until now.
    private func noteWish() {
        guard pairsOnDemand else { return }
        run.pairings.noteAgentWish(station, at: now)
        // A pairing that has not begun by then must not begin anymore.
        context.schedule(after: .milliseconds(1)) { [self] in
            guard run.runners.indices.contains(station) else { return }
            let occupancy = run.runners[station].occupancy
            if occupancy.pairings == 0, occupancy.waitingFrames == 0 { run.pairings.forgetAgentWish(station) }
        }
    }

    /// Refuses all pending questions.
    func refuseAll() {
        for link in questions.keys.sorted(by: { $0.slot < $1.slot }) {
            for attempt in run.pairings.current(at: station) { attempt.unwilling.insert(station) }
            questions[link] = nil
            post(.answerPairing(link, .refuse), CallLedger.Call(kind: .beAgent, link: link))
        }
    }

    // MARK: - Events

    func asked(_ link: LinkIdentifier, _ question: PairingQuestion) {
        guard let peer = links[link]?.peer else {
            return fail(.agent, "a question was asked about \(link), which does not exist")
        }
        guard let agent else {
            // The host may have asked before it processed a call posted at the same instant.
            if lostAgencyAt != now { fail(.agent, "a question was asked of a user who is not the pairing agent") }
            return
        }
        if questions[link] != nil { fail(.agent, "a second question was asked before the first was answered") }
        questions[link] = question
        awaitingEnd.insert(link)
        let attempt = run.pairings.current(station, peer)
        if case .consent = question, let attempt, attempt.peripheral != station, !run.isTainted(peer) {
            fail(.agent, "a central was asked for consent")
        }
        if case .compareNumbers(let number) = question { attempt?.numbers[station] = number }
        if agent.isUnwilling { attempt?.unwilling.insert(station) }
        guard let delay = context.isCalm ? .zero : agent.delay else { return }
        lastQuestion += 1
        let number = lastQuestion
        questionNumbers[link] = number
        context.schedule(after: delay) { [self] in
            guard isAttached, questionNumbers[link] == number, questions[link] == question else { return }
            answer(link, question, attempt, triesLeft: 8)
        }
    }

    private func answer(
        _ link: LinkIdentifier, _ question: PairingQuestion, _ attempt: PairingModel.Attempt?, triesLeft: Int
    ) {
        guard let agent, let peer = links[link]?.peer else { return }
        let answer: PairingAnswer
        switch question {
        case .consent:
            answer =
                agent.consents
                ? .accept(
                    PairingParameters(
                        ioCapability: agent.description.ioCapability, isBonding: agent.description.isBonding))
                : .refuse
            if agent.consents { attempt?.hasConsent = true } else { attempt?.unwilling.insert(station) }
        case .enterPasskey:
            // The passkey that the peer shows. If both enter one, the persons have agreed on it.
            let shown = attempt?.passkeys[peer]?.sorted().first
            if shown == nil, triesLeft > 0, !context.isCalm {
                let number = questionNumbers[link]
                context.schedule(after: .milliseconds(300)) { [self] in
                    guard isAttached, questionNumbers[link] == number, questions[link] == question else { return }
                    self.answer(link, question, attempt, triesLeft: triesLeft - 1)
                }
                return
            }
            if shown == nil { attempt?.unwilling.insert(station) }
            var passkey = shown ?? UInt32(1_000 * min(station, peer) + max(station, peer))
            if agent.mistypes { passkey = (passkey + 1) % 1_000_000 }
            attempt?.passkeys[station, default: []].insert(passkey)
            if agent.mistypes { attempt?.unwilling.insert(station) }
            answer = .passkey(passkey)
        case .compareNumbers(let number):
            let other = attempt?.numbers[peer]
            let isSame = (other ?? number) == number && !agent.rejectsNumbers
            if isSame { attempt?.agreed.insert(station) } else { attempt?.unwilling.insert(station) }
            answer = isSame ? .accept() : .refuse
        }
        questions[link] = nil
        post(.answerPairing(link, answer), CallLedger.Call(kind: .beAgent, link: link))
    }

    func shown(_ link: LinkIdentifier, _ display: PairingDisplay) {
        guard let peer = links[link]?.peer else {
            return fail(.agent, "a display was requested for \(link), which does not exist")
        }
        guard agent != nil else {
            if lostAgencyAt != now { fail(.agent, "a display was requested from a user who is not the pairing agent") }
            return
        }
        guard case .passkey(let passkey) = display else { return }
        awaitingEnd.insert(link)
        run.pairings.current(station, peer)?.passkeys[station, default: []].insert(passkey)
    }

    func pairingEnded(_ link: LinkIdentifier) {
        questions[link] = nil
        questionNumbers[link] = nil
        awaitingEnd.remove(link)
    }

    func linkEnded(_ link: LinkIdentifier) {
        if awaitingEnd.remove(link) != nil, agent != nil {
            fail(.agent, "a link ended, but its pairing did not")
        }
        questions[link] = nil
    }
}
