import BluetoothSMP

/// What a host needs to pair and to encrypt. A host without it refuses to pair, and encrypts no link.
public struct SecurityConfiguration: Sendable {
    /// The ciphers.
    public var crypto: any CryptoToolbox
    /// Where keys come from: it must be fit for cryptography.
    public var entropy: any RandomNumberGenerator & Sendable
    /// What is accepted of a pairing.
    public var policy: SecurityPolicy
    /// The Identity Resolving Key that peers get in pairing; nil for one from `entropy`. It has to be kept together
    /// with the bonds that were made with it.
    public var resolvingKey: UInt128?

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
