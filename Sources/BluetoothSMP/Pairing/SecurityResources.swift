import BluetoothBase

/// What all pairings of a device share: crypto, entropy, its identity and its policy.
public struct SecurityResources: Sendable {
    public var crypto: any CryptoToolbox
    /// Where keys come from: it must be fit for cryptography.
    public var entropy: any RandomNumberGenerator & Sendable
    public var policy: SecurityPolicy
    /// The identity this device distributes. Without a resolving key none is distributed.
    public var identity: DeviceIdentity
    /// What was handed out by another way than Bluetooth, until a pairing has used it.
    var localOutOfBandData: LocalOutOfBandData?
    /// Who has to wait before the next pairing.
    var attempts = RepeatedAttempts()

    public init(
        crypto: any CryptoToolbox, entropy: any RandomNumberGenerator & Sendable, policy: SecurityPolicy,
        identity: DeviceIdentity
    ) {
        self.crypto = crypto
        self.entropy = entropy
        self.policy = policy
        self.identity = identity
    }

    /// Makes the out-of-band data of this device for LE Secure Connections (Core 5.4, Vol 3, Part H, 2.3.5.6.4).
    ///
    /// The next pairing whose peer has it uses it up, whether it succeeds or not. Data made earlier is void.
    ///
    /// - Returns: the data to carry to the peer; nil if the entropy yields no private key.
    public mutating func makeOutOfBandData() -> OutOfBandData? {
        guard let keyPair = makeKeyPair() else { return nil }
        let random = randomValue()
        let x = keyPair.publicKey.x
        localOutOfBandData = LocalOutOfBandData(keyPair: keyPair, random: random)
        return .secureConnections(confirm: crypto.f4(x, x, random, 0), random: random)
    }

    /// The key pair that was handed out, which is forgotten.
    mutating func takeLocalOutOfBandData() -> LocalOutOfBandData? {
        defer { localOutOfBandData = nil }
        return localOutOfBandData
    }

    /// A key pair for one pairing.
    mutating func makeKeyPair() -> P256KeyPair? {
        if policy.usesDebugKeys { return .debug }
        // Of all values of 256 bits one in four billion is no private key, so that more draws only help where there is no entropy.
        for _ in 0..<4 {
            let key = FieldElement(high: randomValue(), low: randomValue())
            if let pair = crypto.keyPair(privateKey: key) { return pair }
        }
        return nil
    }

    /// A fresh passkey, evenly drawn.
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
