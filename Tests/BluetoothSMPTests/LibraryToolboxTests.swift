import BluetoothBase
import BluetoothCrypto
import BluetoothPlatform
import BluetoothSMP
import Testing

/// The requirements of the Security Manager and the link layer, for either library.
struct LibraryToolboxTests {
    private let crypto = LibraryToolbox()

    /// The prime of P-256 (FIPS 186-4, D.1.2.3).
    private static let prime = FieldElement("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
    /// The order of P-256.
    private static let order = FieldElement("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    private static let generator = P256PublicKey(
        x: FieldElement("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"),
        y: FieldElement("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"))
    /// The point whose x-coordinate is 0.
    private static let zeroPoint = P256PublicKey(
        x: FieldElement(high: 0, low: 0),
        y: FieldElement("66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4"))

    @Test func `the ciphers are available`() {
        #expect(LibraryToolbox.unavailability == nil)
    }

    // The codes are text, because Swift 6.2.3 for arm64 passes a `UInt128` in a tuple to a generic asynchronous closure
    // without its high half.
    @Test(
        "AES-CMAC returns the values from RFC 4493 for messages of more than one block",
        arguments: [(40, "dfa66747de9ae63030ca32611497c827"), (64, "51f0bebf7e3b9d92fc49741779363cfe")])
    func longMessages(_ length: Int, _ code: String) throws {
        let message = try #require(
            [UInt8](
                hexadecimal: "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
                    + "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"))
        let key: UInt128 = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c
        #expect(crypto.authenticationCode(key: key, message: Array(message[..<length])) == UInt128(code, radix: 16))
    }

    @Test func `a private key is a number from 1 to the order of P-256 minus 1`() {
        let one = FieldElement(high: 0, low: 1)
        let last = FieldElement(high: Self.order.high, low: Self.order.low - 1)
        #expect(crypto.keyPair(privateKey: one)?.publicKey == Self.generator)
        // The negated generator: its y-coordinate is p - y.
        #expect(
            crypto.keyPair(privateKey: last)?.publicKey
                == P256PublicKey(
                    x: Self.generator.x,
                    y: FieldElement("b01cbd1c01e58065711814b583f061e9d431cca994cea1313449bf97c840ae0a")))
        let invalid = [
            FieldElement(high: 0, low: 0), Self.order, FieldElement(high: Self.order.high, low: Self.order.low + 1),
            FieldElement(high: .max, low: .max),
        ]
        for key in invalid {
            #expect(crypto.keyPair(privateKey: key) == nil)
            #expect(crypto.sharedSecret(privateKey: key, publicKey: Self.generator) == nil)
        }
    }

    @Test func `ECDH returns the secret from RFC 5903, and both sides compute the same`() throws {
        let initiator = try #require(
            crypto.keyPair(
                privateKey: FieldElement("c88f01f510d9ac3f70a292daa2316de544e9aab8afe84049c62a9c57862d1433")))
        let responder = try #require(
            crypto.keyPair(
                privateKey: FieldElement("c6ef9c5d78ae012a011164acb397ce2088685d8f06bf9be0b283ab46476bee53")))
        #expect(
            initiator.publicKey.x == FieldElement("dad0b65394221cf9b051e1feca5787d098dfe637fc90b9ef945d0c3772581180"))
        #expect(
            responder.publicKey.y == FieldElement("56fbf3ca366cc23e8157854c13c58d6aac23f046ada30f8353e74f33039872ab"))
        let secret = FieldElement("d6840f6b42f6edafd13116e0e12565202fef8e9ece7dce03812464d04b9442de")
        #expect(
            crypto.sharedSecret(privateKey: initiator.privateKey, publicKey: responder.publicKey) == secret)
        #expect(
            crypto.sharedSecret(privateKey: responder.privateKey, publicKey: initiator.publicKey) == secret)
    }

    @Test func `a public key is a point on the curve with coordinates below the prime`() {
        let key = FieldElement(high: 1, low: 2)
        #expect(crypto.sharedSecret(privateKey: key, publicKey: Self.zeroPoint) != nil)
        let zero = FieldElement(high: 0, low: 0)
        let invalid = [
            // The same point modulo p.
            P256PublicKey(x: Self.prime, y: Self.zeroPoint.y),
            P256PublicKey(x: zero, y: zero),
            P256PublicKey(x: Self.generator.y, y: Self.generator.x),
            P256PublicKey(x: Self.generator.x, y: Self.zeroPoint.y),
            P256PublicKey(x: FieldElement(high: .max, low: .max), y: FieldElement(high: .max, low: .max)),
        ]
        for point in invalid { #expect(crypto.sharedSecret(privateKey: key, publicKey: point) == nil) }
    }

    #if !BoringSSL
    @Test func `an invalid key changes none of the errors that OpenSSL keeps for this thread`() throws {
        let library = try #require(dlopen("libcrypto.so.3", RTLD_NOW))
        typealias Clear = @convention(c) () -> Void
        typealias Take = @convention(c) () -> CUnsignedLong
        typealias Fetch = @convention(c) (OpaquePointer?, UnsafePointer<CChar>, OpaquePointer?) -> OpaquePointer?
        let clearErrors = unsafeBitCast(try #require(dlsym(library, "ERR_clear_error")), to: Clear.self)
        let takeError = unsafeBitCast(try #require(dlsym(library, "ERR_get_error")), to: Take.self)
        let fetch = unsafeBitCast(try #require(dlsym(library, "EVP_CIPHER_fetch")), to: Fetch.self)
        let zero = P256PublicKey(x: FieldElement(high: 0, low: 0), y: FieldElement(high: 0, low: 0))
        clearErrors()

        #expect(crypto.sharedSecret(privateKey: FieldElement(high: 1, low: 2), publicKey: zero) == nil)
        #expect(takeError() == 0)

        #expect(fetch(nil, "no such cipher", nil) == nil)
        #expect(crypto.sharedSecret(privateKey: FieldElement(high: 1, low: 2), publicKey: zero) == nil)
        #expect(takeError() != 0)
        #expect(takeError() == 0)
    }
    #endif

    @Test func `several tasks can use one block cipher`() async {
        let cipher = crypto.blockCipher(key: 0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f)
        let results = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var blocks = [UInt128](repeating: 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff, count: 1000)
                    cipher.encrypt(&blocks)
                    return blocks.allSatisfy { $0 == 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results == [Bool](repeating: true, count: 8))
    }
}
