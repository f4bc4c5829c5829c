import BluetoothLE

/// Answers for the person in pairing: with what the command line says, and otherwise with what is typed.
protocol TerminalAgent: OutOfBandPairing {
    var desk: PairingDesk { get }
}

/// What all terminal agents share.
struct PairingDesk: Sendable {
    let prompt: TerminalPrompt
    /// The passkey that is entered without asking.
    var passkey: Passkey?
    /// Whether every question is answered with yes, without asking.
    var acceptsEverything = false
    /// Whether the end of a pairing is said; a program that prints it itself does not want it twice.
    var reportsEnd = true
    /// Where out-of-band data of the other device is.
    var outOfBand: OutOfBandFile?
    /// Notes each pairing in which a person takes part.
    var activity = PairingActivity.current

    /// An agent that shows and takes as much as an IO capability says.
    func agent(_ capability: IOCapability) -> any TerminalAgent {
        switch capability {
        case .noInputNoOutput: ConsentAgent(desk: self)
        case .displayOnly: DisplayAgent(desk: self)
        case .displayYesNo: ComparisonAgent(desk: self)
        case .keyboardOnly: KeyboardAgent(desk: self)
        case .keyboardDisplay: KeyboardDisplayAgent(desk: self)
        }
    }

    /// A question that is answered with yes or no.
    func isConfirmed(_ question: String, about peer: DeviceAddress) async -> Bool {
        let answer = await prompt.ask(question + " [y/n] ", about: peer) { line in
            switch line.trimmed.lowercased() {
            case "y", "yes": .answer(true)
            case "n", "no": .answer(false)
            default: .nonsense("type y for yes or n for no")
            }
        }
        return answer ?? false
    }
}

private struct ConsentAgent: TerminalAgent { let desk: PairingDesk }
private struct DisplayAgent: TerminalAgent, PasskeyDisplay { let desk: PairingDesk }
private struct ComparisonAgent: TerminalAgent, NumberComparison { let desk: PairingDesk }
private struct KeyboardAgent: TerminalAgent, PasskeyEntry { let desk: PairingDesk }
private struct KeyboardDisplayAgent: TerminalAgent, NumberComparison, PasskeyEntry { let desk: PairingDesk }

extension TerminalAgent {
    func allowsPairing(with peer: Connection, _ features: PairingFeatures) async -> Bool {
        if desk.acceptsEverything { return true }
        desk.activity.began(with: peer.peer)
        return await desk.isConfirmed("\(peer.label) wants to pair; allow it?", about: peer.peer)
    }

    func outOfBandData(of peer: Connection) async -> OutOfBandData? {
        do {
            guard let record = try desk.outOfBand?.read() else { return nil }
            guard record.address.map({ PeerID($0) == PeerID(peer.peer) }) ?? true else { return nil }
            return record.data
        } catch {
            desk.prompt.say("pairing goes on without out-of-band data: \(error)")
            return nil
        }
    }

    func show(passkey: UInt32, for peer: Connection) async {
        desk.activity.began(with: peer.peer)
        desk.prompt.say("passkey \(Passkey(passkey)): enter it at \(peer.label)")
    }

    func isShown(number: UInt32, at peer: Connection) async -> Bool {
        if desk.acceptsEverything {
            desk.prompt.say("\(Passkey(number)) is accepted, whatever \(peer.label) shows")
            return true
        }
        desk.activity.began(with: peer.peer)
        return await desk.isConfirmed("does \(peer.label) show \(Passkey(number))?", about: peer.peer)
    }

    func enterPasskey(for peer: Connection) async -> UInt32? {
        desk.activity.began(with: peer.peer)
        if let passkey = desk.passkey { return passkey.value }
        let question = "the passkey that \(peer.label) shows, six digits, or nothing to refuse: "
        let answer: Passkey?? = await desk.prompt.ask(question, about: peer.peer) { line in
            if line.trimmed.isEmpty { return .answer(nil) }
            guard let passkey = Passkey(argument: line.trimmed) else {
                return .nonsense("a passkey has six digits, such as 042195")
            }
            return .answer(passkey)
        }
        return (answer ?? nil)?.value
    }

    func pairingEnded(with peer: Connection, _ result: Result<PairingOutcome, PairingError>) async {
        desk.prompt.withdraw(about: peer.peer)
        desk.activity.ended(with: peer.peer)
        guard desk.reportsEnd else { return }
        switch result {
        case .success(let outcome): desk.prompt.say("paired with \(peer.label): \(outcome.summary)")
        case .failure(let error):
            desk.prompt.say("pairing with \(peer.label) failed: \(error)")
            // Where the link is encrypted the peer has shown its keys.
            guard error == .local(.authenticationRequirements), let security = try? await peer.security,
                security.isBonded, !security.isEncrypted
            else { return }
            desk.prompt.say(
                "it has not used the keys of its bond; if it has lost them, remove the bond with \"ble bonds remove "
                    + "\(peer.peer)\" and pair again, or see --replace-bonds")
        }
    }
}

extension Connection {
    /// The peer for people: its address, and its name if that is known.
    fileprivate var label: String { name.map { "\(peer) (\(quoted($0)))" } ?? "\(peer)" }
}

extension String {
    fileprivate var trimmed: String {
        var rest = self[...]
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}
