import ArgumentParser
import BluetoothLE

/// The options that determine how a program answers for the user during pairing.
public struct AgentOptions: ParsableArguments, Sendable {
    /// The IO capability that peers see. If nil, it is keyboard only with a passkey, keyboard and display on a
    /// terminal, and no input and no output elsewhere.
    @Option(
        help: ArgumentHelp(
            "The IO capability: display, display-yes-no, keyboard, none or keyboard-display. Defaults to keyboard with "
                + "--passkey, to keyboard-display on a terminal, and to none elsewhere.",
            valueName: "capability"))
    public var io: IOCapability?

    /// The passkey to enter without asking; nil to ask the user.
    @Option(
        help: ArgumentHelp(
            "Enter this passkey without asking. For tests only: anyone who eavesdrops on one pairing knows a fixed "
                + "passkey for the next.",
            valueName: "six digits"))
    public var passkey: Passkey?

    /// Whether to accept every pairing request and every compared number without asking the user.
    @Flag(help: "Accept every pairing request and every number to compare, without asking.")
    public var accept = false

    /// Whether to require MITM protection, so that Just Works is refused.
    @Flag(
        help: ArgumentHelp(
            "Require MITM protection, whichever device starts the pairing: passkey entry, numeric comparison or "
                + "out-of-band data. Just Works is refused."))
    public var authenticated = false

    /// Whether to require LE Secure Connections, so that legacy pairing is refused.
    @Flag(help: "Require LE Secure Connections. Legacy pairing is refused.")
    public var secureConnections = false

    /// The smallest accepted size of an encryption key, in octets, 7 to 16; nil for 16.
    @Option(
        help: ArgumentHelp(
            "The shortest encryption key to accept, 7 to 16 octets. Defaults to 16.", valueName: "octets"))
    public var minimumKeySize: UInt8?

    /// Whether a device that has lost its bond may pair again by Just Works if the user agrees.
    @Flag(
        help: ArgumentHelp(
            "Let a device that has lost the keys of its bond pair again with Just Works, if you agree. Any device can "
                + "do that by spoofing its address."))
    public var replaceBonds = false

    /// The path of a file with the out-of-band data of the other device; nil for none. The file is read when it is
    /// needed.
    @Option(
        help: ArgumentHelp(
            "Pair with the other device's out-of-band data from this file: AD structures in hexadecimal, as on an NFC "
                + "tag. The file is read when it is needed.",
            valueName: "file"),
        completion: .file())
    public var oobIn: String?

    /// The path of a new file for this device's out-of-band data; nil to create none.
    @Option(
        help: ArgumentHelp(
            "Generate out-of-band data for the other device and write it to this new file, which only you can read. It "
                + "is valid for one pairing. Anyone who has it can impersonate this device.",
            valueName: "file"),
        completion: .file())
    public var oobOut: String?

    /// Creates options for the argument parser to fill in.
    public init() {}

    /// Whether any of these options is given.
    fileprivate var isAnyGiven: Bool {
        io != nil || passkey != nil || accept || authenticated || secureConnections || minimumKeySize != nil
            || replaceBonds || oobIn != nil || oobOut != nil
    }

    /// Checks the options.
    ///
    /// - Throws: `ValidationError` if the key size is not from 7 to 16 octets.
    public func validate() throws {
        guard let minimumKeySize, !(7...16).contains(minimumKeySize) else { return }
        throw ValidationError("--minimum-key-size must be from 7 to 16 octets, not \(minimumKeySize)")
    }

    /// Makes a host apply the requirements in these options to every pairing.
    public func apply(to host: inout HostConfiguration) {
        host.security?.policy.requirement = SecurityRequirement(
            requiresAuthentication: authenticated, requiresSecureConnections: secureConnections,
            minimumKeySize: minimumKeySize ?? SecurityRequirement().minimumKeySize, protectsBonds: !replaceBonds)
    }

    /// The pairing request that these options describe.
    public var request: PairRequest { PairRequest(requiresAuthentication: authenticated) }

    /// The agent that these options describe.
    func agent(_ prompt: TerminalPrompt, reportsEnd: Bool = true) -> any TerminalAgent {
        let desk = PairingDesk(
            prompt: prompt, passkey: passkey, acceptsEverything: accept, reportsEnd: reportsEnd,
            outOfBand: oobIn.map(OutOfBandFile.init))
        let isTyping = passkey != nil
        return desk.agent(io ?? (isTyping ? .keyboardOnly : prompt.isInteractive ? .keyboardDisplay : .noInputNoOutput))
    }

    /// Answers for the user while `body` runs.
    ///
    /// - Parameter reportsEnd: whether to report how each pairing has ended. Pass false if the program prints that
    ///   itself.
    public func withAgent<Value: Sendable>(
        on adapter: Adapter, reportsEnd: Bool = true, _ body: () async throws -> Value
    ) async throws -> Value {
        try await adapter.withPairingAgent(agent(TerminalPrompt(StandardTerminal()), reportsEnd: reportsEnd)) {
            if let oobOut {
                try OutOfBandFile(path: oobOut).write(OutOfBandRecord(try await adapter.outOfBandData()))
                say("\(oobOut) contains what the other device needs to pair with this one; keep it secret")
            }
            return try await body()
        }
    }
}

/// The options of a program for which pairing is optional.
public struct PairingOptions: ParsableArguments, Sendable {
    /// Whether to pair with devices.
    @Flag(help: "Pair with devices. Questions, such as for a passkey, appear on the terminal.")
    public var pair = false

    /// The options that apply if `pair` is true.
    @OptionGroup public var agent: AgentOptions

    /// Creates options for the argument parser to fill in.
    public init() {}

    /// Checks the options.
    ///
    /// - Throws: `ValidationError` if an option for pairing is given without `--pair`.
    public func validate() throws {
        guard pair || !agent.isAnyGiven else {
            throw ValidationError(
                "--io, --passkey, --accept, --authenticated, --secure-connections, --minimum-key-size, --replace-bonds, "
                    + "--oob-in and --oob-out require --pair")
        }
    }

    /// Answers for the user while `body` runs, if pairing is requested.
    public func withAgent<Value: Sendable>(on adapter: Adapter, _ body: () async throws -> Value) async throws -> Value
    {
        pair ? try await agent.withAgent(on: adapter, body) : try await body()
    }

    /// The advice to append to the error of a peer that refused a request; empty if pairing would not help.
    public func advice(about error: BluetoothError) -> String {
        guard !pair, let refusal = error.attError else { return "" }
        switch refusal.code {
        case .insufficientAuthentication, .insufficientEncryption, .encryptionKeySizeTooShort: return "; try --pair"
        default: return ""
        }
    }

    /// Pairs, or encrypts the link with the key of a bond, if pairing is requested.
    public func protect(_ connection: Connection) async throws(BluetoothError) {
        guard pair else { return }
        try await connection.pair(agent.request)
        say("the link to \(connection.address) is \(connection.security.summary)")
    }
}

/// The option for the location of bonds.
public struct BondOptions: ParsableArguments, Sendable {
    /// The directory of the bonds; nil for the default one.
    @Option(
        help: ArgumentHelp(
            "The directory of the bonds. Defaults to $XDG_STATE_HOME/swift-bluetooth-le/bonds.",
            valueName: "directory"))
    public var bonds: String?

    /// Creates options for the argument parser to fill in.
    public init() {}

    /// The store; nil for the default one.
    public var store: FileBondStore? { bonds.map { FileBondStore(directory: $0) } }
}

extension LinkSecurity {
    /// The protection of a link, for users.
    public var summary: String {
        guard isEncrypted else { return "not encrypted" }
        return (isAuthenticated ? "encrypted and authenticated" : "encrypted")
            + (usesSecureConnections ? ", LE Secure Connections" : ", legacy pairing") + ", \(encryptionKeySize) octets"
            + (isBonded ? ", bonded" : ", not bonded")
    }
}
