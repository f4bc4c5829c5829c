import BluetoothSMP
import Foundation

/// The user interaction for pairing. On Apple's platforms the system shows its own alerts, and Core Bluetooth has no
/// API for them.
///
/// The closures that are set determine how peers are authenticated. Without `show` and `enter`, pairing protects
/// against passive eavesdropping only. The closures are called on an arbitrary queue. They receive the `identifier` of
/// the peer's `CBPeripheral` or `CBCentral`.
public struct BluetoothPairing: Sendable {
    /// Asks whether a central may pair with this process. If nil, pairing is allowed while an application publishes a
    /// value that needs encryption, and rejected otherwise.
    public var allows: (@Sendable (_ identifier: UUID, _ reply: @escaping @Sendable (Bool) -> Void) -> Void)?
    /// Shows a passkey, 0 to 999999 with six digits, that the user must enter on the peer.
    public var show: (@Sendable (_ passkey: UInt32, _ identifier: UUID) -> Void)?
    /// Asks for the passkey that the peer shows. Reply with nil if the user cancels.
    public var enter: (@Sendable (_ identifier: UUID, _ reply: @escaping @Sendable (UInt32?) -> Void) -> Void)?
    /// Asks whether the peer shows the same number, 0 to 999999 with six digits. Requires `show`.
    public var compare:
        (@Sendable (_ number: UInt32, _ identifier: UUID, _ reply: @escaping @Sendable (Bool) -> Void) -> Void)?

    /// The minimum security of every pairing, whichever device initiates it. A pairing below it fails with
    /// Authentication Requirements or Encryption Key Size.
    public var requirement = SecurityRequirement()

    /// Creates a value without closures. Peers are paired with when an application needs it, and are not authenticated.
    public init() {}

    /// The IO capability that the closures provide (Core 5.4, Vol 3, Part H, 2.3.2).
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
