/// The minimum that a device accepts from a pairing, in either role, whichever device starts it.
///
/// A pairing that provides less fails with Authentication Requirements or, if the key is too short, with Encryption Key
/// Size (Core 5.4, Vol 3, Part H, 2.3.4 and 3.5.5).
public struct SecurityRequirement: Equatable, Sendable {
    /// Whether the devices must authenticate each other, which protects against man-in-the-middle attacks. Just Works
    /// is refused.
    public var requiresAuthentication: Bool
    /// Secure Connections Only Mode (Vol 3, Part C, 10.2.1): legacy pairing is refused.
    public var requiresSecureConnections: Bool
    /// The shortest allowed key, in octets, 7 to 16. Short keys are vulnerable to exhaustive search.
    public var minimumKeySize: UInt8
    /// Whether a bond can be replaced only by a peer that has proved that it has the bond's key, or that is
    /// authenticated. Without this, Just Works and the application's consent are enough, and anyone can use the peer's
    /// address.
    public var protectsBonds: Bool

    /// Creates a requirement. By default Just Works and legacy pairing are accepted, and bonds are protected.
    public init(
        requiresAuthentication: Bool = false, requiresSecureConnections: Bool = false, minimumKeySize: UInt8 = 16,
        protectsBonds: Bool = true
    ) {
        self.requiresAuthentication = requiresAuthentication
        self.requiresSecureConnections = requiresSecureConnections
        self.minimumKeySize = minimumKeySize
        self.protectsBonds = protectsBonds
    }

    /// Whether keys of this strength meet the requirement.
    public func isMet(by strength: KeyStrength) -> Bool { shortcoming(of: strength) == nil }

    /// Why keys of this strength are not enough; nil if they meet the requirement.
    func shortcoming(of strength: KeyStrength) -> PairingFailure? {
        if requiresSecureConnections, !strength.usesSecureConnections { return .authenticationRequirements }
        if requiresAuthentication, !strength.isAuthenticated { return .authenticationRequirements }
        return strength.keySize < minimumKeySize ? .encryptionKeySize : nil
    }

    /// Also requires keys at least as strong as these.
    mutating func raise(to strength: KeyStrength) {
        requiresAuthentication = requiresAuthentication || strength.isAuthenticated
        requiresSecureConnections = requiresSecureConnections || strength.usesSecureConnections
        minimumKeySize = max(minimumKeySize, strength.keySize)
    }
}
