import BluetoothBase

/// The state that all pairings of a device share: cryptography, entropy, identity and policy.
public struct SecurityResources: Sendable {
    /// The cryptographic primitives that pairing uses.
    public var crypto: any CryptoToolbox
    /// The source of keys. It must be cryptographically secure.
    public var entropy: any RandomNumberGenerator & Sendable
    /// The rules that every pairing of the device must meet.
    public var policy: SecurityPolicy
    /// The identity that this device distributes. It is not distributed without a resolving key.
    public var identity: DeviceIdentity
    /// The out-of-band data that was handed out and that no pairing has used yet.
    var localOutOfBandData: LocalOutOfBandData?
    /// The peers that must wait before the next pairing.
    var attempts = RepeatedAttempts()

    /// Creates resources without out-of-band data. No peer has to wait.
    public init(
        crypto: any CryptoToolbox, entropy: any RandomNumberGenerator & Sendable, policy: SecurityPolicy,
        identity: DeviceIdentity
    ) {
        self.crypto = crypto
        self.entropy = entropy
        self.policy = policy
        self.identity = identity
    }

    /// Makes this device's out-of-band data for LE Secure Connections (Core 5.4, Vol 3, Part H, 2.3.5.6.4).
    ///
    /// The next pairing with a peer that has the data uses it up, whether it succeeds or not. Data made earlier is no
    /// longer valid.
    ///
    /// - Returns: The data to transfer to the peer; nil if the entropy yields no valid private key.
    public mutating func makeOutOfBandData() -> OutOfBandData? {
        guard let keyPair = makeKeyPair() else { return nil }
        let random = randomValue()
        let x = keyPair.publicKey.x
        localOutOfBandData = LocalOutOfBandData(keyPair: keyPair, random: random)
        return .secureConnections(confirm: crypto.f4(x, x, random, 0), random: random)
    }

    /// Removes and returns the key pair that was handed out.
    mutating func takeLocalOutOfBandData() -> LocalOutOfBandData? {
        defer { localOutOfBandData = nil }
        return localOutOfBandData
    }

    /// A key pair for one pairing.
    mutating func makeKeyPair() -> P256KeyPair? {
        if policy.usesDebugKeys { return .debug }
        // Only one in four billion 256-bit values is not a valid private key, so repeated failure means that there is
        // no entropy.
        for _ in 0..<4 {
            let key = FieldElement(high: randomValue(), low: randomValue())
            if let pair = crypto.keyPair(privateKey: key) { return pair }
        }
        return nil
    }

    /// A new passkey, uniformly distributed.
    mutating func makePasskey() -> UInt32 {
        UInt32(truncatingIfNeeded: entropy.next().multipliedFullWidth(by: 1_000_000).high)
    }

    mutating func randomValue() -> UInt128 {
        let high = entropy.next()
        return UInt128(high) << 64 | UInt128(entropy.next())
    }
}

/// The secret half of out-of-band data.
struct LocalOutOfBandData: Sendable {
    var keyPair: P256KeyPair
    var random: UInt128
}
