import BluetoothBase
import BluetoothCrypto
import BluetoothSMP
import Testing

/// The peer of one device that pairs, written from the functions of the specification alone. Unlike `PairingCouple` it
/// can send PDUs that this stack never sends, and it goes on where this stack would end the pairing.
struct PairingTester {
    /// The device under test, in either role.
    var device: PairingSide
    let role: LinkRole
    /// The octets of this peer's Pairing Request or Pairing Response, after the code.
    var features: [UInt8]
    /// The passkey that this peer enters, or shows if the device has to enter it; by default the one that the device
    /// shows.
    var passkey: UInt32?
    /// The temporary key of legacy pairing that this peer got out of band.
    var temporaryKey: UInt128?
    /// Sent in place of this peer's public key.
    var publicKey: P256PublicKey?
    /// The random values of LE Secure Connections that went out of band: this peer's, and the device's.
    var outOfBand: (own: UInt128, device: UInt128) = (0, 0)
    var sendsWrongConfirmValues = false
    /// What the person at the device does before the passkey is complete.
    var keypresses: [KeypressNotification] = []

    /// The PDUs of the device that this peer has not read, apart from keypress notifications.
    private(set) var inbox: [[UInt8]] = []
    private(set) var received: [[UInt8]] = []
    /// The key that this peer computed for the link.
    private(set) var key: UInt128?
    /// The key that the device wants the link encrypted with.
    private(set) var deviceKey: UInt128?
    private(set) var wasAskedForPasskey = false
    /// The number that this peer computed for numeric comparison.
    private(set) var comparedNumber: UInt32?
    private var request: [UInt8] = []
    private var response: [UInt8] = []
    private var deviceX = FieldElement(high: 0, low: 0)
    private var secret = FieldElement(high: 0, low: 0)
    private var drawn: UInt128 = 0x5EED_0000_0000_0000_0000_0000_0000_0000

    static let crypto = LibraryToolbox()
    static let keyPair = crypto.keyPair(privateKey: FieldElement(high: 3, low: 4))

    /// - Parameters:
    ///   - role: that of the device.
    ///   - authReq: this peer's AuthReq octet, reserved bits included.
    init(
        _ role: LinkRole, _ parameters: PairingParameters = PairingParameters(),
        policy: SecurityPolicy = SecurityPolicy(), seed: UInt64 = 1,
        ioCapability: IOCapability = .noInputNoOutput, hasOutOfBandData: Bool = false, authReq: UInt8,
        keySize: UInt8 = 16, keys: (initiator: UInt8, responder: UInt8) = (0, 0)
    ) {
        device = PairingSide(role, seed: seed, policy: policy, parameters: parameters)
        self.role = role
        features = [
            ioCapability.rawValue, hasOutOfBandData ? 1 : 0, authReq, keySize, keys.initiator, keys.responder,
        ]
    }

    // MARK: - What goes over the link

    /// Sends a PDU, and lets the person at the device answer what it asks.
    mutating func send(_ octets: [UInt8]) { give(.pdu(octets)) }

    mutating func send(_ pdu: SecurityManagerPDU) { send(pdu.octets) }

    mutating func give(_ input: PairingInput) {
        carryOut(device.apply(input, at: .zero))
        guard let question = device.questions.first else { return }
        device.questions.removeFirst()
        switch question {
        case .consent: give(.answer(.accept(device.parameters)))
        case .compareNumbers(let number):
            device.comparedNumber = number
            give(.answer(.accept()))
        case .enterPasskey:
            wasAskedForPasskey = true
            for key in keypresses { carryOut(device.pairing.pressKey(key, at: .zero)) }
            give(.answer(.passkey(device.entersInstead ?? passkey ?? 0)))
        }
    }

    private mutating func carryOut(_ effects: [PairingEffect]) {
        for effect in effects {
            device.note(effect)
            switch effect {
            case .send(let pdu):
                received.append(pdu.octets)
                if case .pairingKeypressNotification = pdu { continue }
                inbox.append(pdu.octets)
            case .encrypt(let key): deviceKey = key
            case .ask, .show, .securityRequested, .ended: break
            }
        }
    }

    /// A new link of the two, before anything was sent over it.
    mutating func reconnect() {
        let (own, other) = (PairingSide.centralAddress, PairingSide.peripheralAddress)
        device.pairing = Pairing(
            role: role, localAddress: role == .central ? own : other,
            remoteAddress: role == .central ? other : own)
        device.outcome = nil
        device.shownPasskey = nil
        device.comparedNumber = nil
        (key, deviceKey, comparedNumber) = (nil, nil, nil)
        wasAskedForPasskey = false
        inbox = []
    }

    /// The device has sent something else than the pairing needs to go on, or nothing.
    struct Stopped: Error, CustomStringConvertible {
        var awaited: UInt8
        var sent: [UInt8]?
        var description: String { "awaited \(awaited), got \(sent.map(String.init(describing:)) ?? "nothing")" }
    }

    /// The next PDU of the device, which must have this code.
    mutating func take(_ code: UInt8) throws -> [UInt8] {
        guard let octets = inbox.first, octets[0] == code else { throw Stopped(awaited: code, sent: inbox.first) }
        inbox.removeFirst()
        return octets
    }

    /// The next PDU of the device, which must be a Pairing Confirm, Random or DHKey Check.
    private mutating func takeValue(_ code: UInt8) throws -> UInt128 { Self.integer(try take(code).dropFirst()) }

    static func integer(_ octets: some Collection<UInt8>) -> UInt128 {
        octets.enumerated().reduce(0) { $0 | UInt128($1.element) << UInt128(8 * $1.offset) }
    }

    // MARK: - The phases

    /// Phases 1 and 2, and the encryption of the link; keys follow as the device sends them.
    mutating func pair() throws {
        try exchangeFeatures()
        try authenticate()
        try encrypt()
    }

    mutating func exchangeFeatures() throws {
        if role == .central {
            give(.begin)
            try respond()
        } else {
            request = [0x01] + features
            send(request)
            response = try take(0x02)
        }
    }

    /// Answers the Pairing Request of a central.
    mutating func respond() throws {
        request = try take(0x01)
        response = [0x02] + features
        send(response)
    }

    /// The octets of the device's Pairing Request or Pairing Response, after the code.
    var deviceFeatures: [UInt8] { Array((role == .central ? request : response).dropFirst()) }

    private var usesSecureConnections: Bool { request[3] & response[3] & 0x08 != 0 }

    mutating func authenticate() throws {
        guard usesSecureConnections else { return try authenticateLegacy() }
        try exchangePublicKeys()
        try authenticateWithPublicKeys()
    }

    mutating func authenticateWithPublicKeys() throws {
        if request[2] | response[2] != 0 {
            try check(nonces: exchangeNonces(), randoms: outOfBand)
        } else if device.shownPasskey != nil || wasAskedForPasskey {
            var nonces: (own: UInt128, device: UInt128) = (0, 0)
            for round in 0..<20 { nonces = try exchangeCommitted(z: 0x80 | UInt8(enteredPasskey >> round & 1)) }
            try check(nonces: nonces, randoms: (UInt128(enteredPasskey), UInt128(enteredPasskey)))
        } else {
            try check(nonces: exchangeNumbers(), randoms: (0, 0))
        }
    }

    private var enteredPasskey: UInt32 { passkey ?? device.shownPasskey ?? 0 }

    /// The link layer encrypts with the key of both.
    mutating func encrypt() throws {
        if role == .peripheral { deviceKey = device.pairing.key(encryptedDiversifier: 0, random: 0) }
        let size = min(features[3], deviceFeatures[3])
        let mask: UInt128 = size == 16 ? .max : 1 << UInt128(8 * size) - 1
        #expect(deviceKey != nil && deviceKey == key.map { $0 & mask })
        give(.encryption(status: deviceKey == nil ? 0x06 : 0))
    }

    // MARK: - LE legacy pairing

    private mutating func authenticateLegacy() throws {
        let usesPasskey = device.shownPasskey != nil || wasAskedForPasskey
        let temporaryKey =
            request[2] & response[2] == 1 ? temporaryKey ?? 0 : usesPasskey ? UInt128(enteredPasskey) : 0
        let random = draw()
        let confirm = confirmValue(temporaryKey, random) ^ (sendsWrongConfirmValues ? 1 : 0)
        let deviceRandom: UInt128
        if role == .central {
            let deviceConfirm = try takeValue(0x03)
            send(.pairingConfirm(confirm))
            deviceRandom = try takeValue(0x04)
            if deviceConfirm == confirmValue(temporaryKey, deviceRandom) {
                key = Self.crypto.s1(temporaryKey, random, deviceRandom)
            }
            send(.pairingRandom(random))
        } else {
            send(.pairingConfirm(confirm))
            let deviceConfirm = try takeValue(0x03)
            send(.pairingRandom(random))
            guard inbox.first?[0] == 0x04 else { return }
            deviceRandom = try takeValue(0x04)
            if deviceConfirm == confirmValue(temporaryKey, deviceRandom) {
                key = Self.crypto.s1(temporaryKey, deviceRandom, random)
            }
        }
    }

    private func confirmValue(_ key: UInt128, _ random: UInt128) -> UInt128 {
        Self.crypto.c1(
            key, random, preq: UInt64(Self.integer(request)), pres: UInt64(Self.integer(response)),
            ia: PairingSide.centralAddress, ra: PairingSide.peripheralAddress)
    }

    // MARK: - LE Secure Connections

    mutating func exchangePublicKeys() throws {
        let own = try #require(Self.keyPair)
        if role == .peripheral { send(.pairingPublicKey(publicKey ?? own.publicKey)) }
        guard inbox.first?[0] == 0x0C else { return }
        let octets = try take(0x0C)
        if role == .central { send(.pairingPublicKey(publicKey ?? own.publicKey)) }
        let key = P256PublicKey(x: Self.field(octets[1..<33]), y: Self.field(octets[33..<65]))
        secret = try #require(Self.crypto.sharedSecret(privateKey: own.privateKey, publicKey: key))
        deviceX = key.x
    }

    static func field(_ octets: ArraySlice<UInt8>) -> FieldElement {
        FieldElement(high: integer(octets.dropFirst(16)), low: integer(octets.prefix(16)))
    }

    private func commitment(_ nonce: UInt128, _ z: UInt8) -> UInt128 {
        guard let own = Self.keyPair?.publicKey.x else { return 0 }
        return Self.crypto.f4(own, deviceX, nonce, z) ^ (sendsWrongConfirmValues ? 1 : 0)
    }

    /// Just Works and numeric comparison: the responder alone commits itself.
    private mutating func exchangeNumbers() throws -> (own: UInt128, device: UInt128) {
        guard role == .peripheral else {
            let nonce = draw()
            send(.pairingConfirm(commitment(nonce, 0)))
            let deviceNonce = try takeValue(0x04)
            compare((nonce, deviceNonce))
            send(.pairingRandom(nonce))
            return (nonce, deviceNonce)
        }
        let confirm = try takeValue(0x03)
        let nonces = try exchangeNonces()
        expectCommitted(confirm, nonces.device, 0)
        compare(nonces)
        return nonces
    }

    /// Computes the number that numeric comparison shows.
    private mutating func compare(_ nonces: (own: UInt128, device: UInt128)) {
        guard let own = Self.keyPair?.publicKey.x else { return }
        let number =
            role == .central
            ? Self.crypto.g2(deviceX, own, nonces.device, nonces.own)
            : Self.crypto.g2(own, deviceX, nonces.own, nonces.device)
        comparedNumber = number % 1_000_000
    }

    /// A round of passkey entry: both commit themselves.
    private mutating func exchangeCommitted(z: UInt8) throws -> (own: UInt128, device: UInt128) {
        let nonce = draw()
        if role == .peripheral { send(.pairingConfirm(commitment(nonce, z))) }
        let confirm = try takeValue(0x03)
        if role == .central { send(.pairingConfirm(commitment(nonce, z))) }
        if role == .peripheral { send(.pairingRandom(nonce)) }
        let deviceNonce = try takeValue(0x04)
        if role == .central { send(.pairingRandom(nonce)) }
        if !sendsWrongConfirmValues { expectCommitted(confirm, deviceNonce, z) }
        return (nonce, deviceNonce)
    }

    private func expectCommitted(_ confirm: UInt128, _ nonce: UInt128, _ z: UInt8) {
        guard let own = Self.keyPair?.publicKey.x else { return }
        #expect(confirm == Self.crypto.f4(deviceX, own, nonce, z))
    }

    private mutating func exchangeNonces() throws -> (own: UInt128, device: UInt128) {
        let nonce = draw()
        if role == .peripheral { send(.pairingRandom(nonce)) }
        let deviceNonce = try takeValue(0x04)
        if role == .central { send(.pairingRandom(nonce)) }
        return (nonce, deviceNonce)
    }

    /// The DHKey Checks, and the key of the link.
    private mutating func check(
        nonces: (own: UInt128, device: UInt128), randoms: (own: UInt128, device: UInt128)
    ) throws {
        let (own, other) =
            role == .central
            ? (PairingSide.peripheralAddress, PairingSide.centralAddress)
            : (PairingSide.centralAddress, PairingSide.peripheralAddress)
        let (macKey, linkKey) = Self.crypto.f5(
            secret, role == .central ? nonces.device : nonces.own, role == .central ? nonces.own : nonces.device,
            PairingSide.centralAddress, PairingSide.peripheralAddress)
        let value = SecurityManagerPDU.pairingDHKeyCheck(
            Self.crypto.f6(macKey, nonces.own, nonces.device, randoms.device, ioCap: capabilities(features), own, other)
        )
        if role == .peripheral { send(value) }
        #expect(
            try takeValue(0x0D)
                == Self.crypto.f6(
                    macKey, nonces.device, nonces.own, randoms.own, ioCap: capabilities(deviceFeatures), other, own))
        if role == .central { send(value) }
        key = linkKey
    }

    private func capabilities(_ features: [UInt8]) -> UInt32 {
        UInt32(features[0]) | UInt32(features[1]) << 8 | UInt32(features[2]) << 16
    }

    private mutating func draw() -> UInt128 {
        drawn = drawn &* 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835 &+ 1
        return drawn
    }
}
