import BluetoothBase
import BluetoothCrypto
import BluetoothSMP

/// One of two devices that pair: its security manager, its resources, and the person in front of it.
struct PairingSide {
    var pairing: Pairing
    var resources: SecurityResources
    var parameters: PairingParameters
    /// Whether the person agrees to what is asked.
    var consents = true
    var confirmsNumbers = true
    /// What the person enters where nobody shows a passkey, or instead of what is shown.
    var entersInstead: UInt32?

    var shownPasskey: UInt32?
    var comparedNumber: UInt32?
    var keypresses: [KeypressNotification] = []
    var questions: [PairingQuestion] = []
    var securityRequests: [AuthenticationRequirements] = []
    var outcome: Result<PairingResult, PairingError>?

    static let centralAddress = DeviceAddress(0xC011_2233_4455, kind: .random)
    static let peripheralAddress = DeviceAddress(0x0011_2233_4466, kind: .public)

    init(
        _ role: LinkRole, seed: UInt64 = 1, policy: SecurityPolicy = SecurityPolicy(),
        parameters: PairingParameters = PairingParameters()
    ) {
        let isCentral = role == .central
        let local = isCentral ? Self.centralAddress : Self.peripheralAddress
        pairing = Pairing(
            role: role, localAddress: local, remoteAddress: isCentral ? Self.peripheralAddress : Self.centralAddress)
        resources = SecurityResources(
            crypto: LibraryToolbox(), entropy: SeededGenerator(seed: seed << 1 | (isCentral ? 1 : 0)),
            policy: policy, identity: DeviceIdentity(address: local, resolvingKey: isCentral ? 0xCE : 0x9E))
        self.parameters = parameters
    }

    var result: PairingResult? { try? outcome?.get() }
    var error: PairingError? {
        if case .failure(let error) = outcome { error } else { nil }
    }

    /// Notes what concerns the person, and how it ended.
    mutating func note(_ effect: PairingEffect) {
        switch effect {
        case .send, .encrypt: break
        case .ask(let question): questions.append(question)
        case .show(.passkey(let passkey)): shownPasskey = passkey
        case .show(.keypress(let key)): keypresses.append(key)
        case .securityRequested(let requirements): securityRequests.append(requirements)
        case .ended(let result):
            outcome = outcome ?? result
            questions = []
        }
    }

    /// What the person says to a question.
    func answer(to question: PairingQuestion, peer: PairingSide) -> PairingAnswer {
        switch question {
        case .consent: consents ? .accept(parameters) : .refuse
        case .enterPasskey: .passkey(entersInstead ?? peer.shownPasskey ?? 123_456)
        case .compareNumbers: confirmsNumbers ? .accept() : .refuse
        }
    }
}
