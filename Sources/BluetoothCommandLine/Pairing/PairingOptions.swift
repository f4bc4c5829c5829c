import ArgumentParser
import BluetoothLE

/// How a program answers for the person in pairing.
public struct AgentOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "What can be shown and typed here: display, display-yes-no, keyboard, none or keyboard-display. By default all of "
                + "it on a terminal and nothing elsewhere; with --passkey, keyboard.",
            valueName: "capability"))
    public var io: IOCapability?

    @Option(
        help: ArgumentHelp(
            "Enter this passkey without asking. For tests: a fixed passkey is a weak one, since whoever listens to one "
                + "pairing knows it for the next.",
            valueName: "six digits"))
    public var passkey: Passkey?

    @Flag(help: "Answer yes without asking, to whoever wants to pair, and to every number that is to be compared.")
    public var accept = false

    @Flag(
        help: ArgumentHelp(
            "Require protection against machines in the middle, whichever device begins to pair: a passkey, numbers that are "
                + "compared, or out-of-band data. Just Works is refused."))
    public var authenticated = false

    @Flag(help: "Require LE Secure Connections. Legacy pairing is refused.")
    public var secureConnections = false

    @Option(
        help: ArgumentHelp(
            "Accept encryption keys of this length, 7 to 16. By default only those of 16 octets.", valueName: "octets"))
    public var minimumKeySize: UInt8?

    @Flag(
        help: ArgumentHelp(
            "Let a device that has lost the keys of its bond pair again by Just Works, if you agree. Anyone who takes its "
                + "address can do that."))
    public var replaceBonds = false

    @Option(
        help: ArgumentHelp(
            "Pair with the out-of-band data of the other device, which is in this file: AD structures in hexadecimal, as an NFC "
                + "tag has them. It is read when it is needed.",
            valueName: "file"),
        completion: .file())
    public var oobIn: String?

    @Option(
        help: ArgumentHelp(
            "Make out-of-band data for the other device, and write it to this new file, which only you can read. It is good for "
                + "one pairing, and whoever has it can pretend to be this device.",
            valueName: "file"),
        completion: .file())
    public var oobOut: String?

    public init() {}

    /// Whether any of them is given.
    fileprivate var isAnyGiven: Bool {
        io != nil || passkey != nil || accept || authenticated || secureConnections || minimumKeySize != nil
            || replaceBonds || oobIn != nil || oobOut != nil
    }

    public func validate() throws {
        guard let minimumKeySize, !(7...16).contains(minimumKeySize) else { return }
        throw ValidationError("--minimum-key-size is a number of octets from 7 to 16, not \(minimumKeySize)")
    }

    /// Makes a host require of every pairing what these options say.
    public func apply(to host: inout HostConfiguration) {
        host.security?.policy.requirement = SecurityRequirement(
            requiresAuthentication: authenticated, requiresSecureConnections: secureConnections,
            minimumKeySize: minimumKeySize ?? SecurityRequirement().minimumKeySize, protectsBonds: !replaceBonds)
    }

    /// What to ask of a pairing.
    public var request: PairRequest { PairRequest(requiresAuthentication: authenticated) }

    /// The agent that these options describe.
    func agent(_ prompt: TerminalPrompt, reportsEnd: Bool = true) -> any TerminalAgent {
        let desk = PairingDesk(
            prompt: prompt, passkey: passkey, acceptsEverything: accept, reportsEnd: reportsEnd,
            outOfBand: oobIn.map(OutOfBandFile.init))
        let isTyping = passkey != nil
        return desk.agent(io ?? (isTyping ? .keyboardOnly : prompt.isInteractive ? .keyboardDisplay : .noInputNoOutput))
    }

    /// Answers for the person while `body` runs.
    ///
    /// - Parameter reportsEnd: whether to say how each pairing has ended; not where the program prints that itself.
    public func withAgent<Value: Sendable>(
        on adapter: Adapter, reportsEnd: Bool = true, _ body: () async throws -> Value
    ) async throws -> Value {
        try await adapter.withPairingAgent(agent(TerminalPrompt(StandardTerminal()), reportsEnd: reportsEnd)) {
            if let oobOut {
                try OutOfBandFile(path: oobOut).write(OutOfBandRecord(try await adapter.outOfBandData()))
                say("\(oobOut) has what the other device needs to pair with this one: keep it secret")
            }
            return try await body()
        }
    }
}

/// The options of a program that can pair, and need not.
public struct PairingOptions: ParsableArguments, Sendable {
    @Flag(help: "Pair with devices, and ask on the terminal what there is to ask.")
    public var pair = false

    @OptionGroup public var agent: AgentOptions

    public init() {}

    public func validate() throws {
        guard pair || !agent.isAnyGiven else {
            throw ValidationError(
                "--io, --passkey, --accept, --authenticated, --secure-connections, --minimum-key-size, --replace-bonds, "
                    + "--oob-in and --oob-out are about pairing; add --pair")
        }
    }

    /// Answers for the person while `body` runs, if there is to be pairing.
    public func withAgent<Value: Sendable>(on adapter: Adapter, _ body: () async throws -> Value) async throws -> Value
    {
        pair ? try await agent.withAgent(on: adapter, body) : try await body()
    }

    /// What to do about a peer's refusal, to stand behind the error; empty where pairing would not help.
    public func advice(about error: BluetoothError) -> String {
        guard !pair, case .att(let refusal) = error else { return "" }
        switch refusal.code {
        case .insufficientAuthentication, .insufficientEncryption, .encryptionKeySizeTooShort: return "; try --pair"
        default: return ""
        }
    }

    /// Pairs, or encrypts with the key of a bond, if there is to be pairing.
    public func protect(_ connection: Connection) async throws(BluetoothError) {
        guard pair else { return }
        try await connection.pair(agent.request)
        say("the link to \(connection.peer) is \(try await connection.security.summary)")
    }
}

/// Where bonds are kept.
public struct BondOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "Where bonds are kept; by default in $XDG_STATE_HOME/swift-bluetooth-le/bonds.", valueName: "directory"))
    public var bonds: String?

    public init() {}

    /// The store; nil for the default one.
    public var store: FileBondStore? { bonds.map { FileBondStore(directory: $0) } }
}

extension LinkSecurity {
    /// How a link is protected, for people.
    public var summary: String {
        guard isEncrypted else { return "not encrypted" }
        return (isAuthenticated ? "encrypted and authenticated" : "encrypted")
            + (usesSecureConnections ? ", LE Secure Connections" : ", legacy pairing") + ", \(encryptionKeySize) octets"
            + (isBonded ? ", bonded" : ", not bonded")
    }
}
