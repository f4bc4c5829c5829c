import BluetoothHost
import BluetoothSMP
import BluetoothUsers

/// Interacts with the user during pairing. Pass an agent to `Adapter.withPairingAgent`.
///
/// Its IO capability follows from the protocols that it conforms to (Core 5.4, Vol 3, Part H, 2.3.2):
///
/// | conforms to | IO capability |
/// |---|---|
/// | `PairingAgent` only | NoInputNoOutput |
/// | `PasskeyDisplay` | DisplayOnly |
/// | `NumberComparison` | DisplayYesNo |
/// | `PasskeyEntry` | KeyboardOnly |
/// | `PasskeyEntry` and one of the others | KeyboardDisplay |
///
/// Each call runs in its own task. The task is not cancelled if pairing ends in the meantime; `pairingEnded` is called
/// instead.
public protocol PairingAgent: Sendable {
    /// Whether this device may start pairing automatically if a peer requests security, or rejects an access that
    /// requires it. Defaults to true.
    var pairsOnDemand: Bool { get }

    /// Returns whether a peer that requests pairing may pair. Ask the user, or check whether this device is in a
    /// pairing mode. Without such a check, any device in range can pair.
    func allowsPairing(with connection: Connection, features: PairingFeatures) async -> Bool

    /// Pairing has ended. Passkeys that are shown, and questions that are open, are no longer valid. The default
    /// implementation does nothing.
    func pairingEnded(with connection: Connection, result: Result<PairingOutcome, PairingError>) async
}

extension PairingAgent {
    /// True: pairing starts automatically if a peer requests security, or rejects an access that requires it.
    public var pairsOnDemand: Bool { true }

    /// Does nothing. Implement this method to dismiss the passkey or question that the agent displays.
    public func pairingEnded(with connection: Connection, result: Result<PairingOutcome, PairingError>) async {}
}

/// An agent that can display six digits.
public protocol PasskeyDisplay: PairingAgent {
    /// Displays a passkey, 0 to 999999, as six digits for the user to enter on the peer.
    func showPasskey(_ passkey: UInt32, for connection: Connection) async
}

/// An agent that can display six digits and ask the user for a yes or no.
public protocol NumberComparison: PasskeyDisplay {
    /// Returns whether the peer displays the same number, 0 to 999999, as six digits.
    func confirmNumber(_ number: UInt32, for connection: Connection) async -> Bool
}

/// An agent that lets the user enter six digits.
public protocol PasskeyEntry: PairingAgent {
    /// Returns the passkey that the peer displays, 0 to 999999; nil if the user cancels.
    func enterPasskey(for connection: Connection) async -> UInt32?
}

/// An agent that has received data from peers over a channel other than Bluetooth, such as NFC or a printed code (Core
/// 5.4, Vol 3, Part H, 2.3.5.6.4). `Adapter.outOfBandData()` generates the data to give to a peer in the same way.
public protocol OutOfBandPairing: PairingAgent {
    /// Returns the data that the peer has generated; nil if none was received, or if the data belongs to another peer.
    /// This method is called when the peer requests pairing, and by `Connection.pair`. It is not called when this
    /// device pairs on demand as a central.
    func outOfBandData(of connection: Connection) async -> OutOfBandData?
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
    func answer(_ question: PairingQuestion, on connection: Connection, _ parameters: PairingParameters) async
        -> PairingAnswer
    {
        switch question {
        case .consent(let features):
            guard await allowsPairing(with: connection, features: features) else { return .refuse }
            var parameters = parameters
            parameters.peerOutOfBandData = await (self as? any OutOfBandPairing)?.outOfBandData(of: connection)
            return .accept(parameters)
        case .enterPasskey:
            guard let passkey = await (self as? any PasskeyEntry)?.enterPasskey(for: connection) else { return .refuse }
            return .passkey(passkey)
        case .compareNumbers(let number):
            let isSame = await (self as? any NumberComparison)?.confirmNumber(number, for: connection) ?? false
            return isSame ? .accept() : .refuse
        }
    }
}
