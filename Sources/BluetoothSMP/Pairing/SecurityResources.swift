import BluetoothBase

/// What all pairings of a device share: crypto, entropy, its identity and its policy.
public struct SecurityResources: Sendable {
    public var crypto: any CryptoToolbox
    /// Where keys come from: it must be fit for cryptography.
    public var entropy: any RandomNumberGenerator & Sendable
    public var policy: SecurityPolicy
    /// The identity this device distributes.
    public var identity: DeviceIdentity

    public init(
        crypto: any CryptoToolbox, entropy: any RandomNumberGenerator & Sendable, policy: SecurityPolicy,
        identity: DeviceIdentity
    ) {
        self.crypto = crypto
        self.entropy = entropy
        self.policy = policy
        self.identity = identity
    }
}
