import BluetoothSMP
import Foundation

/// Who answers for the person when a peer pairs with this process. On Apple's platforms the system shows its own alerts;
/// Core Bluetooth has no API for it.
///
/// What the closures given can do decides how peers are authenticated: with neither, pairing protects against listeners
/// only. The closures are called on an arbitrary queue. A peer is named by the `identifier` that its `CBPeripheral` and
/// `CBCentral` have.
public struct BluetoothPairing: Sendable {
    /// Whether a central may pair with this process. Nil allows it while an application publishes something that needs
    /// encryption, and refuses it otherwise.
    public var allows: (@Sendable (_ peer: UUID, _ reply: @escaping @Sendable (Bool) -> Void) -> Void)?
    /// Shows a passkey, 0 to 999999 with six digits, to be entered at the peer.
    public var show: (@Sendable (_ passkey: UInt32, _ peer: UUID) -> Void)?
    /// Asks for the passkey that the peer shows; nil for a person who gives up.
    public var enter: (@Sendable (_ peer: UUID, _ reply: @escaping @Sendable (UInt32?) -> Void) -> Void)?
    /// Asks whether the peer shows the same number, 0 to 999999 with six digits. Needs `show` as well.
    public var compare:
        (@Sendable (_ number: UInt32, _ peer: UUID, _ reply: @escaping @Sendable (Bool) -> Void) -> Void)?

    /// The least that is accepted of every pairing, whichever device begins it. A pairing that gives less fails with
    /// Authentication Requirements or Encryption Key Size.
    public var requirement = SecurityRequirement()

    /// Without closures: peers are paired with where an application needs it, and not authenticated.
    public init() {}

    /// What this process can show and take (Core 5.4, Vol 3, Part H, 2.3.2).
    var ioCapability: IOCapability {
        switch (show != nil, enter != nil, compare != nil) {
        case (true, true, _): .keyboardDisplay
        case (true, false, true): .displayYesNo
        case (true, false, false): .displayOnly
        case (false, true, _): .keyboardOnly
        case (false, false, _): .noInputNoOutput
        }
    }
}
