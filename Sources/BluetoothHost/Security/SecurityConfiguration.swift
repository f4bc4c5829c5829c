import BluetoothSMP

/// The components that a host needs for pairing and encryption. A host without them refuses to pair, and encrypts no
/// link.
public struct SecurityConfiguration: Sendable {
    /// The cryptographic functions.
    public var crypto: any CryptoToolbox
    /// The source of randomness for keys. It must be cryptographically secure.
    public var entropy: any RandomNumberGenerator & Sendable
    /// The policy for accepting pairings.
    public var policy: SecurityPolicy
    /// The Identity Resolving Key that peers receive in pairing; nil to generate one from `entropy`. Store it together
    /// with the bonds that were made with it.
    public var resolvingKey: UInt128?

    /// Creates a configuration. By default, entropy comes from the system, and the host generates its own IRK.
    public init(
        crypto: any CryptoToolbox, entropy: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
        policy: SecurityPolicy = SecurityPolicy(), resolvingKey: UInt128? = nil
    ) {
        self.crypto = crypto
        self.entropy = entropy
        self.policy = policy
        self.resolvingKey = resolvingKey
    }
}
