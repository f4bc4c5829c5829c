import BluetoothBase
import BluetoothCrypto
import BluetoothSMP
import Testing

/// The sample data of the Core specification (Vol 3, Part H, 2.2 and Appendix D; Vol 2, Part G, 7.1.2).
struct SampleDataTests {
    let crypto = LibraryToolbox()
    let u = FieldElement("20b003d2f297be2c5e2c83a7e9f9a5b9eff49111acf4fddbcc0301480e359de6")
    let v = FieldElement("55188b3d32f6bb9a900afcfbeed4e72a59cb9ac2f19d7cfb6b4fdd49f47fc5fd")
    let n1: UInt128 = 0xd5cb_8454_d177_733e_ffff_b2ec_712b_aeab
    let n2: UInt128 = 0xa6e8_e7cc_25a7_5f6e_2165_83f7_ff3d_c4cf
    let a1 = DeviceAddress(0x5612_3737_bfce, kind: .public)
    let a2 = DeviceAddress(0xa713_702d_cfc1, kind: .public)

    @Test func `AES-CMAC returns the values from RFC 4493`() {
        let key: UInt128 = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c
        let message = [UInt8](hexadecimal: "6bc1bee22e409f96e93d7e117393172a") ?? []
        #expect(crypto.authenticationCode(key: key, message: []) == 0xbb1d_6929_e959_3728_7fa3_7d12_9b75_6746)
        #expect(crypto.authenticationCode(key: key, message: message) == 0x070a_16b4_6b4d_4144_f79b_dd9d_d04a_287c)
    }

    @Test func `e returns the ciphertext from FIPS 197`() {
        #expect(
            crypto.e(0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f, 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff)
                == 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a)
    }

    @Test("Blocks encrypted together equal blocks encrypted one by one", arguments: [0, 1, 2, 5, 6, 7, 16, 64])
    func together(_ count: Int) {
        let key: UInt128 = 0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f
        let blocks = (0..<UInt128(count)).map { 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff ^ $0 << 60 ^ $0 }
        var encrypted = blocks
        crypto.blockCipher(key: key).encrypt(&encrypted)
        #expect(encrypted == blocks.map { crypto.encrypt(key: key, block: $0) })
        #expect(
            encrypted.first ?? 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a == 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a)
    }

    @Test("c1 returns the confirm value from the specification's sample data") func c1() {
        let confirm = crypto.c1(
            0, 0x5783_D521_56AD_6F0E_6388_274E_C670_2EE0, preq: 0x07_0710_0000_0101, pres: 0x05_0008_0000_0302,
            ia: DeviceAddress(0xA1A2_A3A4_A5A6, kind: .random), ra: DeviceAddress(0xB1B2_B3B4_B5B6, kind: .public))
        #expect(confirm == 0x1E1E_3FEF_8789_88EA_D2A7_4DC5_BEF1_3B86)
    }

    @Test("s1 returns the key from the specification's sample data") func s1() {
        #expect(
            crypto.s1(0, 0x000F_0E0D_0C0B_0A09_1122_3344_5566_7788, 0x0102_0304_0506_0708_99AA_BBCC_DDEE_FF00)
                == 0x9A1F_E1F0_E8B0_F49B_5B42_16AE_796D_A062)
    }

    @Test("f4 returns the confirm value from the specification's sample data") func f4() {
        #expect(crypto.f4(u, v, n1, 0) == 0xf2c9_16f1_07a9_bd1c_f1ed_a1be_a974_872d)
    }

    @Test("f5 returns the MacKey and the long-term key from the specification's sample data") func f5() {
        let secret = FieldElement("ec0234a357c8ad05341010a60a397d9b99796b13b4f866f1868d34f373bfa698")
        let keys = crypto.f5(secret, n1, n2, a1, a2)
        #expect(keys.macKey == 0x2965_f176_a108_4a02_fd3f_6a20_ce63_6e20)
        #expect(keys.longTermKey == 0x6986_7911_69d7_cd23_9805_22b5_9475_0a38)
    }

    @Test("f6 returns the check value from the specification's sample data") func f6() {
        let check = crypto.f6(
            0x2965_f176_a108_4a02_fd3f_6a20_ce63_6e20, n1, n2, 0x12a3_343b_b453_bb54_08da_42d2_0c2d_0fc8,
            ioCap: 0x010102, a1, a2)
        #expect(check == 0xe3c4_7398_9cd0_e8c5_d26c_0b09_da95_8f61)
    }

    @Test("g2 returns the 32-bit value from the specification's sample data") func g2() {
        #expect(crypto.g2(u, v, n1, n2) == 0x2f9e_d5ba)
    }

    @Test func `h6, h7 and ah return the values from the specification's sample data`() {
        let key: UInt128 = 0xec02_34a3_57c8_ad05_3410_10a6_0a39_7d9b
        #expect(crypto.h6(key, keyID: 0x6c65_6272) == 0x2d9a_e102_e76d_c91c_e8d3_a9e2_80b1_6399)
        #expect(crypto.h7(salt: 0x746D_7031, key) == 0xfb17_3597_c6a3_c0ec_d299_8c2a_75a5_7011)
        #expect(crypto.ah(key, 0x70_8194) == 0x0d_fbaa)
    }

    @Test func `A resolvable private address is resolved by its key alone`() {
        let key: UInt128 = 0xec02_34a3_57c8_ad05_3410_10a6_0a39_7d9b
        let sample = DeviceAddress(0x7081_940d_fbaa, kind: .random)
        #expect(crypto.resolves(sample, resolvingKey: key))
        #expect(!crypto.resolves(sample, resolvingKey: key ^ 1))
        #expect(!crypto.resolves(DeviceAddress(0x7081_940d_fbab, kind: .random), resolvingKey: key))
        #expect(!crypto.resolves(DeviceAddress(0x7081_940d_fbaa, kind: .public), resolvingKey: key))
        // S13: a key of 0 resolves nothing, not even what was made with it.
        let zero = DeviceAddress(0x7081_9400_0000 | UInt64(crypto.ah(0, 0x70_8194)), kind: .random)
        #expect(!crypto.resolves(zero, resolvingKey: 0))
        var entropy = SeededGenerator(seed: 1)
        for _ in 0..<100 {
            let address = crypto.resolvablePrivateAddress(resolvingKey: key, entropy: &entropy)
            #expect(address.randomKind == .resolvablePrivate)
            #expect(crypto.resolves(address, resolvingKey: key))
        }
    }

    @Test(arguments: [
        (
            "3f49f6d4a3c55f3874c9b3e3d2103f504aff607beb40b7995899b8a6cd3c1abd",
            "55188b3d32f6bb9a900afcfbeed4e72a59cb9ac2f19d7cfb6b4fdd49f47fc5fd",
            "20b003d2f297be2c5e2c83a7e9f9a5b9eff49111acf4fddbcc0301480e359de6",
            "dc809c49652aeb6d63329abf5a52155c766345c28fed3024741c8ed01589d28b",
            "1ea1f0f01faf1d9609592284f19e4c0047b58afd8615a69f559077b22faaa190",
            "4c55f33e429dad377356703a9ab85160472d1130e28e36765f89aff915b1214a",
            "ec0234a357c8ad05341010a60a397d9b99796b13b4f866f1868d34f373bfa698"
        ),
        (
            "06a516693c9aa31a6084545d0c5db641b48572b97203ddffb7ac73f7d0457663",
            "529aa0670d72cd6497502ed473502b037e8803b5c60829a5a3caa219505530ba",
            "2c31a47b5779809ef44cb5eaaf5c3e43d5f8faad4a8794cb987e9b03745c78dd",
            "919512183898dfbecd52e2408e43871fd021109117bd3ed4eaf8437743715d4f",
            "f465e43ff23d3f1b9dc7dfc04da8758184dbc966204796eccf0d6cf5e16500cc",
            "0201d048bcbbd899eeefc424164e33c201c2b010ca6b4d43a8a155cad8ecb279",
            "ab85843a2f6d883f62e5684b38e307335fe6e1945ecd19604105c6f23221eb69"
        ),
    ])
    func `P-256 key pairs and shared secrets match the specification's sample data`(
        _ a: String, _ b: String, _ ax: String, _ ay: String, _ bx: String, _ by: String, _ secret: String
    ) {
        let publicA = P256PublicKey(x: FieldElement(ax), y: FieldElement(ay))
        let publicB = P256PublicKey(x: FieldElement(bx), y: FieldElement(by))
        #expect(crypto.keyPair(privateKey: FieldElement(a))?.publicKey == publicA)
        #expect(crypto.keyPair(privateKey: FieldElement(b))?.publicKey == publicB)
        #expect(crypto.sharedSecret(privateKey: FieldElement(a), publicKey: publicB) == FieldElement(secret))
        #expect(crypto.sharedSecret(privateKey: FieldElement(b), publicKey: publicA) == FieldElement(secret))
    }

    @Test func `Invalid P-256 keys are rejected`() {
        let zero = FieldElement(high: 0, low: 0), ones = FieldElement(high: .max, low: .max)
        let key = P256KeyPair.debug
        #expect(crypto.keyPair(privateKey: key.privateKey) == key)
        #expect(crypto.keyPair(privateKey: zero) == nil)
        #expect(crypto.keyPair(privateKey: ones) == nil)
        for point in [
            P256PublicKey(x: zero, y: zero), P256PublicKey(x: ones, y: ones),
            P256PublicKey(x: key.publicKey.x, y: zero), P256PublicKey(x: key.publicKey.y, y: key.publicKey.x),
        ] {
            #expect(crypto.sharedSecret(privateKey: key.privateKey, publicKey: point) == nil)
        }
    }
}
