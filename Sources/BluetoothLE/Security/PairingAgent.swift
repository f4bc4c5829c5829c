import BluetoothHost
import BluetoothSMP
import BluetoothUsers

/// Answers for the person in pairing. `Adapter.withPairingAgent` puts it to work.
///
/// What it can show and take, its IO capability, follows from the protocols it conforms to (Core 5.4, Vol 3, Part H,
/// 2.3.2):
///
/// | conforms to | IO capability |
/// |---|---|
/// | `PairingAgent` only | NoInputNoOutput |
/// | `PasskeyDisplay` | DisplayOnly |
/// | `NumberComparison` | DisplayYesNo |
/// | `PasskeyEntry` | KeyboardOnly |
/// | `PasskeyEntry` and one of the others | KeyboardDisplay |
///
/// Each call is a task of its own, which is not cancelled when pairing ends meanwhile: `pairingEnded` says so.
public protocol PairingAgent: Sendable {
    /// Whether this device may begin to pair by itself, where a peer refuses an access that needs protection, or asks for
    /// protection. By default it may.
    var pairsOnDemand: Bool { get }

    /// The peer asks to pair. Whether it may: ask the person, or look whether this device is in a pairing mode. Without
    /// that, anybody in reach can pair.
    func allowsPairing(with peer: Connection, _ features: PairingFeatures) async -> Bool

    /// Pairing is over: what is shown is void, and what is asked. Does nothing by default.
    func pairingEnded(with peer: Connection, _ result: Result<PairingOutcome, PairingError>) async
}

extension PairingAgent {
    public var pairsOnDemand: Bool { true }
    public func pairingEnded(with peer: Connection, _ result: Result<PairingOutcome, PairingError>) async {}
}

/// An agent that can show six digits.
public protocol PasskeyDisplay: PairingAgent {
    /// Shows a passkey, 0 to 999999, with six digits, for the person to enter at the peer.
    func show(passkey: UInt32, for peer: Connection) async
}

/// An agent that can show six digits and take a yes or no.
public protocol NumberComparison: PasskeyDisplay {
    /// Whether the peer shows the same number, 0 to 999999 with six digits.
    func isShown(number: UInt32, at peer: Connection) async -> Bool
}

/// An agent that can take six digits.
public protocol PasskeyEntry: PairingAgent {
    /// The passkey that the peer shows, 0 to 999999; nil if the person gives up.
    func enterPasskey(for peer: Connection) async -> UInt32?
}

/// An agent that knows data of peers which came by another way than Bluetooth, such as NFC or a printed code (Core 5.4, Vol 3,
/// Part H, 2.3.5.6.4). `Adapter.outOfBandData()` makes what a peer is to get in the same way.
public protocol OutOfBandPairing: PairingAgent {
    /// What the peer has made; nil if nothing has come, and where the peer is another one than the data's. It is asked for when
    /// the peer wants to pair, and by `Connection.pair`. Where this device pairs on demand as a central, it is not.
    func outOfBandData(of peer: Connection) async -> OutOfBandData?
}

/// An event for an agent.
enum PairingEvent: Sendable {
    case asked(Connection, PairingQuestion)
    case shown(Connection, PairingDisplay)
    case ended(Connection, Result<PairingOutcome, PairingError>)
}

extension PairingAgent {
    var ioCapability: IOCapability {
        let compares = self is any NumberComparison, shows = self is any PasskeyDisplay
        if self is any PasskeyEntry { return shows ? .keyboardDisplay : .keyboardOnly }
        if compares { return .displayYesNo }
        return shows ? .displayOnly : .noInputNoOutput
    }

    /// The answer to a question.
    func answer(_ question: PairingQuestion, of peer: Connection, _ parameters: PairingParameters) async
        -> PairingAnswer
    {
        switch question {
        case .consent(let features):
            guard await allowsPairing(with: peer, features) else { return .refuse }
            var parameters = parameters
            parameters.peerOutOfBandData = await (self as? any OutOfBandPairing)?.outOfBandData(of: peer)
            return .accept(parameters)
        case .enterPasskey:
            guard let passkey = await (self as? any PasskeyEntry)?.enterPasskey(for: peer) else { return .refuse }
            return .passkey(passkey)
        case .compareNumbers(let number):
            let isSame = await (self as? any NumberComparison)?.isShown(number: number, at: peer) ?? false
            return isSame ? .accept() : .refuse
        }
    }
}
