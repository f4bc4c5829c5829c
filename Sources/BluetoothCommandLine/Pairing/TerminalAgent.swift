import BluetoothLE

/// Answers for the user during pairing, as the command line specifies, and otherwise with what the user types.
protocol TerminalAgent: OutOfBandPairing {
    var desk: PairingDesk { get }
}

/// The state that all terminal agents share.
struct PairingDesk: Sendable {
    let prompt: TerminalPrompt
    /// The passkey that is entered without asking.
    var passkey: Passkey?
    /// Whether every question is answered with yes, without asking.
    var acceptsEverything = false
    /// Whether the end of a pairing is reported. It is false for a program that prints the end itself.
    var reportsEnd = true
    /// The file with the out-of-band data of the other device.
    var outOfBand: OutOfBandFile?
    /// Records each pairing in which the user takes part.
    var activity = PairingActivity.current

    /// The agent for an IO capability.
    func agent(_ capability: IOCapability) -> any TerminalAgent {
        switch capability {
        case .noInputNoOutput: ConsentAgent(desk: self)
        case .displayOnly: DisplayAgent(desk: self)
        case .displayYesNo: ComparisonAgent(desk: self)
        case .keyboardOnly: KeyboardAgent(desk: self)
        case .keyboardDisplay: KeyboardDisplayAgent(desk: self)
        }
    }

    /// Asks a question that is answered with yes or no.
    func isConfirmed(_ question: String, about peer: PeerID) async -> Bool {
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
    func allowsPairing(with connection: Connection, features: PairingFeatures) async -> Bool {
        if desk.acceptsEverything { return true }
        desk.activity.began(with: connection.peer)
        return await desk.isConfirmed("\(connection.label) wants to pair; allow it?", about: connection.peer)
    }

    func outOfBandData(of connection: Connection) async -> OutOfBandData? {
        do {
            guard let record = try desk.outOfBand?.read() else { return nil }
            let names = [connection.peer, PeerID(connection.address)]
            guard record.address.map({ names.contains(PeerID($0)) }) ?? true else { return nil }
            return record.data
        } catch {
            desk.prompt.say("pairing continues without out-of-band data: \(error)")
            return nil
        }
    }

    func showPasskey(_ passkey: UInt32, for connection: Connection) async {
        desk.activity.began(with: connection.peer)
        desk.prompt.say("passkey \(Passkey(passkey)): enter it on \(connection.label)")
    }

    func confirmNumber(_ number: UInt32, for connection: Connection) async -> Bool {
        if desk.acceptsEverything {
            desk.prompt.say("\(Passkey(number)) is accepted without checking what \(connection.label) shows")
            return true
        }
        desk.activity.began(with: connection.peer)
        return await desk.isConfirmed("does \(connection.label) show \(Passkey(number))?", about: connection.peer)
    }

    func enterPasskey(for connection: Connection) async -> UInt32? {
        desk.activity.began(with: connection.peer)
        if let passkey = desk.passkey { return passkey.value }
        let question = "enter the passkey that \(connection.label) shows (six digits), or nothing to refuse: "
        let answer: Passkey?? = await desk.prompt.ask(question, about: connection.peer) { line in
            if line.trimmed.isEmpty { return .answer(nil) }
            guard let passkey = Passkey(argument: line.trimmed) else {
                return .nonsense("a passkey has six digits, such as 042195")
            }
            return .answer(passkey)
        }
        return (answer ?? nil)?.value
    }

    func pairingEnded(with connection: Connection, result: Result<PairingOutcome, PairingError>) async {
        desk.prompt.withdraw(about: connection.peer)
        desk.activity.ended(with: connection.peer)
        guard desk.reportsEnd else { return }
        switch result {
        case .success(let outcome): desk.prompt.say("paired with \(connection.label): \(outcome.summary)")
        case .failure(let error):
            desk.prompt.say("pairing with \(connection.label) failed: \(error)")
            // If the link is encrypted, the peer has proved that it has its keys.
            guard error == .local(.authenticationRequirements), connection.security.isBonded,
                !connection.security.isEncrypted
            else { return }
            desk.prompt.say(
                "the device did not use the keys of its bond; if it has lost them, remove the bond with "
                    + "\"ble bonds remove \(connection.peer)\" and pair again, or see --replace-bonds")
        }
    }
}

extension Connection {
    /// The peer for users: its address, and its name if that is known.
    fileprivate var label: String { name.map { "\(address) (\(quoted($0)))" } ?? "\(address)" }
}

extension String {
    fileprivate var trimmed: String {
        var rest = self[...]
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}
