import BluetoothBase

/// The Security Manager Protocol on one link, in the role of the link's initiator (central) or responder (peripheral)
/// (Core 5.4, Vol 3, Part H).
///
/// It is pure: PDUs, answers, what the controller reports and time go in, effects come out, which the caller carries out
/// in order.
public struct Pairing: Sendable {
    /// - Parameters:
    ///   - role: this device's role on the link.
    ///   - local: the address this device uses on the link.
    ///   - peer: the address the peer uses on the link.
    public init(role: LinkRole, local: DeviceAddress, peer: DeviceAddress) {}

    /// Whether a pairing is under way.
    public var isUnderWay: Bool { false }
    /// When `fire` is to be called; nil if nothing is due.
    public var nextDeadline: Instant? { nil }

    /// Begins to pair: a central sends Pairing Request, a peripheral Security Request. Ends with `.ended` in any case.
    public mutating func begin(
        _ parameters: PairingParameters, _ resources: inout SecurityResources, at now: Instant
    ) -> [PairingEffect] { [] }

    /// Handles a PDU of the peer.
    public mutating func receive(
        _ pdu: Span<UInt8>, _ resources: inout SecurityResources, at now: Instant
    ) -> [PairingEffect] { [] }

    /// Answers the last question. Answers to others are ignored.
    public mutating func answer(
        _ answer: PairingAnswer, _ resources: inout SecurityResources, at now: Instant
    ) -> [PairingEffect] { [] }

    /// Tells the peer what the person does while entering the passkey.
    public mutating func pressKey(_ key: KeypressNotification) -> [PairingEffect] { [] }

    /// The key for the encryption that the peer, as central, starts with this EDIV and Rand; nil if this pairing has none.
    public func key(encryptedDiversifier: UInt16, random: UInt64) -> UInt128? { nil }

    /// What the key is worth that `key` or `.encrypt` gave last; nil if there is none.
    public var strength: KeyStrength? { nil }

    /// The link was encrypted with a key that existed before: a Security Request of this device has been fulfilled.
    public mutating func requestFulfilled() {}

    /// The controller reports that the link is encrypted, that its key was changed, or why not.
    ///
    /// - Parameter status: the status of HCI, 0 for success.
    public mutating func encryptionChanged(
        status: UInt8, isEncrypted: Bool, _ resources: inout SecurityResources, at now: Instant
    ) -> [PairingEffect] { [] }

    /// Calls the pairing off; the peer is told.
    public mutating func cancel() -> [PairingEffect] { [] }

    /// The link has ended.
    public mutating func linkEnded() -> [PairingEffect] { [] }

    /// Lets everything happen that is due.
    public mutating func fire(at now: Instant) -> [PairingEffect] { [] }
}
