import BluetoothBase
import BluetoothCrypto
import BluetoothValues
import TestSupport
import Testing

/// With the examples of https://bthome.io/format and https://bthome.io/encryption.
@Suite("BTHome")
struct BTHomeTests {
    @Test(
        "measurements from the specification are encoded and decoded",
        arguments: [
            ("40 02 CA 09 03 BF 13", "temperature 25.06 °C, humidity 50.55 %"),
            ("40 02 C4 09 03 BF 13", "temperature 25.00 °C, humidity 50.55 %"),
            ("44 3A 01", "button press"), ("44 3A 00 3A 01", "button none, button_2 press"),
            ("40 02 CA 09 02 3E FE", "temperature 25.06 °C, temperature_2 -4.50 °C"),
            ("40 53 0C 48 65 6C 6C 6F 20 57 6F 72 6C 64 21", "text Hello World!"),
            ("40 54 02 01 FF", "raw 01FF"), ("40 3C 01 03", "dimmer rotate_left 3"), ("40 3C 00 00", "dimmer none"),
            ("44 3B 00 02 01 61", "command toggle, battery 97 %"), ("40 3B 02 03 0A FF", "command step_up 0AFF"),
            ("40 3B 00 77", "command event 0x77"),
            ("40 F1 00 01 02 04", "firmware_version 4.2.1.0"), ("40 F2 00 01 06", "firmware_version 6.1.0"),
            ("40 F0 01 00", "device_type 1"), ("40 3A 80", "button hold_press"), ("40 3A 77", "button event 0x77"),
            ("40", ""),
        ])
    func objects(_ text: String, _ says: String) throws {
        let value = try BTHome(decoding: bytes(text))
        #expect(description(value.fields) == says)
        #expect(value.isTriggerBased == text.hasPrefix("44"))
        #expect(value.encoded == bytes(text))
        #expect(AdvertisedFormats.value(of: bytes(text), in: .serviceData("FCD2")) as? BTHome == value)
    }

    /// The column "Example" of the specification's table, and what follows from it.
    static let table: [(String, String)] = [
        ("01 61", "battery 97 %"), ("12 E2 04", "co2 1250 ppm"), ("09 60", "count 96"), ("3D 09 60", "count 24585"),
        ("3E 2A 2C 09 60", "count 1611213866"), ("43 4E 34", "current 13.390 A"), ("08 CA 06", "dew_point 17.38 °C"),
        ("40 0C 00", "distance_mm 12 mm"), ("41 4E 00", "distance 7.8 m"), ("42 4E 34 00", "duration 13.390 s"),
        ("4D 12 13 8A 14", "energy 344593.170 kWh"), ("0A 13 8A 14", "energy 1346.067 kWh"),
        ("4B 13 8A 14", "gas 1346.067 m³"), ("4C 41 01 8A 01", "gas 25821.505 m³"), ("03 BF 13", "humidity 50.55 %"),
        ("2E 23", "humidity 35 %"), ("05 13 8A 14", "illuminance 13460.67 lx"), ("06 5E 1F", "mass 80.30 kg"),
        ("07 3E 1D", "mass_lb 74.86 lb"), ("14 02 0C", "moisture 30.74 %"), ("2F 23", "moisture 35 %"),
        ("0D 12 0C", "pm2_5 3090 µg/m³"), ("0E 02 1C", "pm10 7170 µg/m³"), ("0B 02 1B 00", "power 69.14 W"),
        ("04 13 8A 01", "pressure 1008.83 hPa"), ("3F 02 0C", "rotation 307.4 °"), ("44 4E 34", "speed 133.90 m/s"),
        ("45 11 01", "temperature 27.3 °C"), ("02 CA 09", "temperature 25.06 °C"), ("13 33 01", "tvoc 307 µg/m³"),
        ("0C 02 0C", "voltage 3.074 V"), ("4A 02 0C", "voltage 307.4 V"), ("4E 87 56 2A 01", "volume 19551.879 L"),
        ("47 87 56", "volume 2215.1 L"), ("48 DC 87", "volume_ml 34780 mL"),
        ("49 DC 87", "volume_flow_rate 34.780 m³/h"),
        ("46 32", "uv_index 5.0"), ("00 09", "packet_id 9"), ("50 5D 39 61 64", "timestamp 1684093277 s"),
        ("57 EA", "temperature -22 °C"), ("58 EA", "temperature -7.70 °C"), ("15 01", "battery_low true"),
        ("2D 00", "window false"), ("5C FF FF FF FF", "power -0.01 W"),
        ("63 40 42 0F 00", "acceleration 1.000000 m/s²"),
    ]

    @Test("each kind of object is encoded and decoded", arguments: table)
    func kinds(_ text: String, _ says: String) throws {
        let value = try BTHome(decoding: [0x40] + bytes(text))
        #expect(value.objects.count == 1 && description(value.fields) == says)
        #expect(value.encoded == [0x40] + bytes(text))
    }

    @Test(
        "an object created from a name and text uses the first kind that holds the value",
        arguments: [
            ("temperature", "25.06", "02 CA 09"), ("temperature", "-327.68", "02 00 80"),
            ("temperature", "3276.7", "45 FF 7F"), ("count", "96", "09 60"), ("count", "300", "3D 2C 01"),
            ("count", "-1", "59 FF"), ("humidity", "50", "03 88 13"), ("humidity", "50.5500", "03 BF 13"),
            ("door", "true", "1A 01"), ("door", "off", "1A 00"), ("button", "press", "3A 01"),
            ("dimmer", "rotate_right 7", "3C 02 07"), ("command", "on", "3B 00 01"),
            ("command", "off 0102", "3B 02 00 01 02"), ("text", "1", "53 01 31"), ("raw", "CAFE", "54 02 CA FE"),
            ("firmware_version", "4.2.1.0", "F1 00 01 02 04"), ("firmware_version", "6.1.0", "F2 00 01 06"),
            // None holds these.
            ("temperature", "25.065", nil), ("temperature", "1e3", nil), ("battery", "256", nil),
            ("battery", "-1", nil),
            ("button", "hit", nil), ("door", "ajar", nil), ("colour", "1", nil), ("raw", "C", nil),
            ("firmware_version", "1.2", nil), ("count", "9223372036854775807", nil), ("dimmer", "rotate_left 256", nil),
            ("command", "on 0", nil), ("command", "jump", nil),
        ] as [(String, String, String?)])
    func names(_ name: String, _ text: String, _ expected: String?) {
        let object = BTHomeObject(name, text: text)
        #expect(object.map { BTHome([$0]).encoded } == expected.map { [0x40] + bytes($0) })
    }

    @Test("objects after an unknown kind are omitted, and truncated data is rejected")
    func unknown() throws {
        #expect(try BTHome(decoding: bytes("40 01 61 FE 12 34")).objects.count == 1)
        #expect(throws: DecodingFailure(.truncated(missing: 1), at: 3)) { try BTHome(decoding: bytes("40 02 CA")) }
        #expect(throws: DecodingFailure(.truncated(missing: 2), at: 4)) { try BTHome(decoding: bytes("40 53 03 41")) }
        #expect(throws: DecodingFailure(.truncated(missing: 1), at: 0)) { try BTHome(decoding: []) }
        // Version 1, and encrypted.
        for information: UInt8 in [0x20, 0x41, 0x00, 0xE0] {
            #expect(throws: DecodingFailure(.invalidValue, at: 0)) { try BTHome(decoding: [information]) }
        }
    }

    // MARK: - Encryption

    static let key = bytes("23 1D 39 C1 D7 CC 1A B1 AE E2 24 CD 09 6D B9 32")
    static let address = DeviceAddress(0x5448_E68F_80A5, kind: .public)
    static let message = bytes("41 A4 72 66 C9 5F 73 00 11 22 33 78 23 72 14")

    @Test("the example of the specification is decrypted, and encrypts to the same octets")
    func encryption() throws {
        let encrypted = try EncryptedBTHome(decoding: Self.message)
        #expect(encrypted.counter == 0x3322_1100 && encrypted.encoded == Self.message)
        let value = try #require(encrypted.decrypted(key: Self.key, address: Self.address, with: AESCCM()))
        #expect(description(value.fields) == "temperature 25.06 °C, humidity 50.55 %")
        let again = EncryptedBTHome(
            value, key: Self.key, address: Self.address, counter: 0x3322_1100, with: AESCCM())
        #expect(again.encoded == Self.message)
        #expect(AdvertisedFormats.value(of: Self.message, in: .serviceData("FCD2")) as? EncryptedBTHome == encrypted)
    }

    @Test("decryption fails with another key, from another address, or if the data was changed")
    func forgery() throws {
        let encrypted = try EncryptedBTHome(decoding: Self.message)
        let otherKey = [Self.key[0] ^ 1] + Self.key.dropFirst()
        #expect(encrypted.decrypted(key: otherKey, address: Self.address, with: AESCCM()) == nil)
        #expect(encrypted.decrypted(key: [1, 2, 3], address: Self.address, with: AESCCM()) == nil)
        let other = DeviceAddress(Self.address.value ^ 1, kind: .public)
        #expect(encrypted.decrypted(key: Self.key, address: other, with: AESCCM()) == nil)
        for index in Self.message.indices {
            var changed = Self.message
            // The third bit of the first octet says whether it is triggered; others make it something else.
            changed[index] ^= 0x04
            let value = try EncryptedBTHome(decoding: changed)
            #expect(value.decrypted(key: Self.key, address: Self.address, with: AESCCM()) == nil, "octet \(index)")
        }
    }

    /// What OpenSSL makes of 0, 1, 2, … with the key above and a nonce of 0, 1, 2, …
    @Test(
        "ciphertexts and tags match OpenSSL's",
        arguments: [
            (
                33, 13, 8,
                "F58ED020DF74BAE03C43E844E6C7BCD1272390BBB251F08E0329F035415E96B1C7", "1568D15EC9E2E07F"
            ),
            (
                40, 13, 4,
                "F58ED020DF74BAE03C43E844E6C7BCD1272390BBB251F08E0329F035415E96B1C77FA7FD3159F8ED", "906DEE35"
            ),
            (20, 7, 16, "5FE90755AE1258EA81D728F150CDA60912AFEFA6", "A4B7F3E5EFC4DCFA275C0E68FA2147E9"),
        ])
    func ciphertexts(_ count: Int, _ nonceLength: Int, _ tagLength: Int, _ ciphertext: String, _ tag: String) {
        let plaintext = (0..<count).map { UInt8($0) }, nonce = (0..<nonceLength).map { UInt8($0) }
        let sealed = AESCCM().seal(plaintext, key: Self.key, nonce: nonce, tagLength: tagLength)
        #expect(sealed.ciphertext == bytes(ciphertext) && sealed.tag == bytes(tag))
        #expect(AESCCM().open(sealed.ciphertext, tag: sealed.tag, key: Self.key, nonce: nonce) == plaintext)
    }

    @Test("messages of any length decrypt to the original", arguments: [0, 1, 15, 16, 17, 31, 32, 255])
    func lengths(_ count: Int) {
        let plaintext = (0..<count).map { UInt8($0) }, nonce = [UInt8](0..<13)
        let (ciphertext, tag) = AESCCM().seal(plaintext, key: Self.key, nonce: nonce, tagLength: 4)
        #expect(ciphertext.count == count && tag.count == 4)
        #expect(AESCCM().open(ciphertext, tag: tag, key: Self.key, nonce: nonce) == plaintext)
        #expect(AESCCM().open(ciphertext, tag: [tag[0] ^ 1] + tag[1...], key: Self.key, nonce: nonce) == nil)
    }
}
