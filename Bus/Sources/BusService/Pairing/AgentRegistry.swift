import BluetoothHost
import BluetoothSMP
import BluetoothUsers
import BusObjects
import DBus

/// The clients' pairing agents: `org.bluez.AgentManager1`.
///
/// The daemon's own user answers the adapter's questions, with the agent of the client that pairs, or with the default
/// agent.
final class AgentRegistry {
    struct Agent {
        let client: Client
        let path: ObjectPath
        let capability: IOCapability
    }

    unowned let daemon: BusDaemon
    private var agents: [String: Agent] = [:]
    /// The names of the clients whose agents may answer for everyone. The last one does.
    private var defaults: [String] = []
    /// The client that is pairing.
    private var pairing: Client?
    /// The questions that agents are answering.
    private var questions: [LinkIdentifier: Question] = [:]
    /// The passkey that an agent shows, and the number of digits entered on the peer.
    private var shown: (agent: Agent, link: LinkIdentifier, passkey: UInt32, entered: UInt16)?

    private struct Question {
        let agent: Agent
        let call: BusConnection.PendingCall
    }

    /// How long a person may take. The peer waits 30 seconds.
    private static let timeout = Duration.seconds(60)

    init(_ daemon: BusDaemon) { self.daemon = daemon }

    static let interface = Interface<AgentRegistry>(
        "org.bluez.AgentManager1",
        methods: [
            Method("RegisterAgent", [Argument("agent", "o"), Argument("capability", "s")]) {
                registry, call throws(BusError) in try registry.register(call)
            },
            Method("UnregisterAgent", [Argument("agent", "o")]) { registry, call throws(BusError) in
                let agent = try registry.agent(of: call)
                call.reply()
                registry.remove(agent.client)
            },
            Method("RequestDefaultAgent", [Argument("agent", "o")]) { registry, call throws(BusError) in
                let agent = try registry.agent(of: call)
                registry.defaults.removeAll { $0 == agent.client.name }
                registry.defaults.append(agent.client.name)
                registry.update()
                call.reply()
            },
        ])

    var hasAgent: Bool { !agents.isEmpty }

    // MARK: - Registration

    private func register(_ call: MethodCall) throws(BusError) {
        guard agents[call.sender] == nil else { throw .alreadyExists }
        guard let path = call.arguments[0].path, let capability = Self.capability(call.arguments[1].text ?? "") else {
            throw .invalidArguments
        }
        agents[call.sender] = Agent(client: try daemon.client(of: call), path: path, capability: capability)
        // The first agent is the default one.
        if defaults.isEmpty { defaults.append(call.sender) }
        update()
        if agents.count == 1 { daemon.adapter.changed("Pairable") }
        call.reply()
    }

    static func capability(_ name: String) -> IOCapability? {
        switch name {
        case "", "KeyboardDisplay": .keyboardDisplay
        case "DisplayOnly": .displayOnly
        case "DisplayYesNo": .displayYesNo
        case "KeyboardOnly": .keyboardOnly
        case "NoInputNoOutput": .noInputNoOutput
        default: nil
        }
    }

    private func agent(of call: MethodCall) throws(BusError) -> Agent {
        guard let agent = agents[call.sender], agent.path == call.arguments[0].path else { throw .doesNotExist }
        return agent
    }

    private func remove(_ client: Client) {
        guard agents.removeValue(forKey: client.name) != nil else { return }
        if agents.isEmpty { daemon.adapter.changed("Pairable") }
        defaults.removeAll { $0 == client.name }
        for (link, question) in questions where question.agent.client === client {
            // A question without an answer is answered with no.
            questions[link] = nil
            daemon.house.post(.cancelPairing(link))
        }
        if shown?.agent.client === client { shown = nil }
        update()
    }

    func clientLeft(_ client: Client) {
        remove(client)
        end(for: client)
    }

    // MARK: - The daemon as the adapter's agent

    /// The agent that answers now; nil if only pairings that need no answer are possible.
    private var current: Agent? {
        if let pairing, let agent = agents[pairing.name] { return agent }
        return defaults.last.flatMap { agents[$0] }
    }

    func adapterAppeared() { update() }

    /// The client's agent answers the questions of the pairing that it requests.
    func begin(for client: Client) {
        pairing = client
        update()
    }

    func end(for client: Client) {
        guard pairing === client else { return }
        pairing = nil
        update()
    }

    private func update() {
        let capability = current?.capability ?? .noInputNoOutput
        // As in BlueZ's kernel part: protection against man-in-the-middle attacks is used if both devices can provide
        // it.
        let description = PairingAgentDescription(
            ioCapability: capability, requestsAuthentication: capability != .noInputNoOutput)
        daemon.house.post(.setPairingAgent(description))
    }

    // MARK: - Questions

    func asked(_ question: PairingQuestion, on link: LinkIdentifier) {
        guard let device = daemon.devices.connected(link) else { return answer(.refuse, link) }
        let path = DBusValue.objectPath(device.path)
        switch question {
        case .consent(let features): consent(features, path, link)
        case .enterPasskey:
            ask("RequestPasskey", [path], link) { values in
                values.first?.integer.map { .passkey(UInt32(clamping: $0)) } ?? .refuse
            }
        case .compareNumbers(let number):
            ask("RequestConfirmation", [path, .uint32(number)], link) { _ in .accept() }
        }
    }

    /// A peer asks to pair. Like BlueZ, only a pairing that will show nothing is put to the agent here.
    private func consent(_ features: PairingFeatures, _ path: DBusValue, _ link: LinkIdentifier) {
        guard daemon.adapter.isPairable else { return answer(.refuse, link) }
        let capability = current?.capability ?? .noInputNoOutput
        let acceptance = PairingAnswer.accept(
            PairingParameters(ioCapability: capability, hasSentOutOfBandData: true))
        let isSilent =
            capability == .noInputNoOutput || features.ioCapability == .noInputNoOutput
            || !features.requirements.contains(.mitmProtection)
        guard isSilent, capability != .noInputNoOutput else { return answer(acceptance, link) }
        ask("RequestAuthorization", [path], link) { _ in acceptance }
    }

    private func ask(
        _ method: String, _ values: [DBusValue], _ link: LinkIdentifier,
        _ interpret: @escaping ([DBusValue]) -> PairingAnswer
    ) {
        guard let agent = current else { return answer(.refuse, link) }
        daemon.tree.flush()
        let call = agent.client.call(agent.path, "org.bluez.Agent1", method, values, timeout: Self.timeout) {
            [weak self] result in
            guard let self, questions.removeValue(forKey: link) != nil else { return }
            switch result {
            case .success(let values): answer(interpret(values), link)
            case .failure: answer(.refuse, link)
            }
        }
        questions[link] = Question(agent: agent, call: call)
    }

    private func answer(_ answer: PairingAnswer, _ link: LinkIdentifier) {
        daemon.house.post(.answerPairing(link, answer))
    }

    func shown(_ display: PairingDisplay, on link: LinkIdentifier) {
        switch display {
        case .passkey(let passkey):
            guard let agent = current else { return }
            shown = (agent, link, passkey, 0)
        case .keypress(let key):
            guard let shown, shown.link == link else { return }
            switch key {
            case .digitEntered: self.shown?.entered = min(shown.entered + 1, 6)
            case .digitErased: self.shown?.entered = max(shown.entered, 1) - 1
            case .cleared, .entryStarted: self.shown?.entered = 0
            case .entryCompleted: return
            }
        }
        guard let shown, let device = daemon.devices.connected(link) else { return }
        shown.agent.client.tell(
            shown.agent.path, "org.bluez.Agent1", "DisplayPasskey",
            [.objectPath(device.path), .uint32(shown.passkey), .uint16(shown.entered)])
    }

    /// A pairing has ended. An agent that is still asked stops asking. As in BlueZ, a passkey that is only shown is not
    /// cancelled: agents do not expect it.
    func pairingEnded(_ link: LinkIdentifier, _ result: Result<PairingOutcome, PairingError>) {
        if let question = questions.removeValue(forKey: link) {
            question.agent.client.tell(question.agent.path, "org.bluez.Agent1", "Cancel")
        }
        if shown?.link == link { shown = nil }
    }
}
