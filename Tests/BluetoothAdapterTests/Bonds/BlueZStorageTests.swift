import BluetoothBase
import BluetoothHost
import BluetoothSMP
import FoundationEssentials
import Testing

@testable import BluetoothAdapter

/// The files are as BlueZ 5.66 writes them, with keys that people have published.
@Suite("Bonds stored by BlueZ")
struct BlueZStorageTests {
    private let directory = TemporaryDirectory()

    private func write(_ text: String, to path: String) throws {
        let url = URL(filePath: directory.path + "/" + path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// A keyboard that paired with legacy pairing, both sides distributing all they have.
    static let keyboard = """
        [General]
        Name=Keyboard
        Appearance=0x03c1
        AddressType=static
        SupportedTechnologies=LE;
        Trusted=true
        Blocked=false
        Services=00001800-0000-1000-8000-00805f9b34fb;00001812-0000-1000-8000-00805f9b34fb;

        [IdentityResolvingKey]
        Key=DBC692CEF7A35E34869CF7B4BF3D2ECB

        [LongTermKey]
        Key=0941BDE2BB0A13F60D7E48232CDCFAD7
        Authenticated=0
        EncSize=16
        EDiv=51189
        Rand=2641808354939232188

        [PeripheralLongTermKey]
        Key=EE79B496157D111931F3BB5D297E861D
        Authenticated=0
        EncSize=16
        EDiv=10475
        Rand=13449669660310563565

        [SlaveLongTermKey]
        Key=EE79B496157D111931F3BB5D297E861D
        Authenticated=0
        EncSize=16
        EDiv=10475
        Rand=13449669660310563565

        [LocalSignatureKey]
        Key=D87F668DC5A954F41D1FFEE9DE2F57E7
        Counter=0
        Authenticated=false

        [RemoteSignatureKey]
        Key=F47AB6C67A7516605EB20045C6CAFFA1
        Counter=6
        Authenticated=false

        [DeviceID]
        Source=2
        Vendor=13652
        """

    /// A game controller that paired with LE Secure Connections: its key is in one group only.
    static let gamepad = """
        [General]
        Name=Xbox Wireless Controller
        AddressType=public
        SupportedTechnologies=LE;

        [IdentityResolvingKey]
        Key=7637BE3999263FC843DAEAEBCCED3776

        [PeripheralLongTermKey]
        Key=94CC6BD0B5E3A59FAE56D222F11CEF39
        Authenticated=2
        EncSize=16
        EDiv=0
        Rand=0

        [SlaveLongTermKey]
        Key=94CC6BD0B5E3A59FAE56D222F11CEF39
        Authenticated=2
        EncSize=16
        EDiv=0
        Rand=0
        """

    private static func bond(_ text: String, _ address: UInt64 = 0xC569_86F3_48C2) throws(BlueZDevice.Problem) -> Bond {
        try BlueZDevice(address, KeyFile(text)).bond
    }

    @Test("Keys are byte-reversed, and each is used for the role that BlueZ stores it for")
    func legacy() throws {
        let address = DeviceAddress(0xC569_86F3_48C2, kind: .random)
        let expected = Bond(
            peer: PeerID(address), address: address,
            identity: DeviceIdentity(address: address, resolvingKey: 0xCB2E_3DBF_B4F7_9C86_345E_A3F7_CE92_C6DB),
            centralKey: LongTermKey(
                key: 0xD7FA_DC2C_2348_7E0D_F613_0ABB_E2BD_4109, encryptedDiversifier: 51189,
                random: 2_641_808_354_939_232_188),
            peripheralKey: LongTermKey(
                key: 0x1D86_7E29_5DBB_F331_1911_7D15_96B4_79EE, encryptedDiversifier: 10475,
                random: 13_449_669_660_310_563_565),
            strength: KeyStrength(model: .justWorks, usesSecureConnections: false, keySize: 16),
            peerSignature: SignatureKey(key: 0xA1FF_CAC6_4500_B25E_6016_757A_C6B6_7AF4, counter: 7),
            localSignature: SignatureKey(key: 0xE757_2FDE_E9FE_1F1D_F454_A9C5_8D66_7FD8, counter: 0))
        #expect(try Self.bond(Self.keyboard) == expected)
    }

    @Test("An LE Secure Connections key is used for both roles, whichever group it is in")
    func secureConnections() throws {
        let key = LongTermKey(key: 0x39EF_1CF1_22D2_56AE_9FA5_E3B5_D06B_CC94)
        let bond = try Self.bond(Self.gamepad, 0xC83F_2699_39BE)
        #expect(bond.address == DeviceAddress(0xC83F_2699_39BE, kind: .public))
        #expect(bond.centralKey == key && bond.peripheralKey == key)
        #expect(bond.strength == KeyStrength(model: .justWorks, usesSecureConnections: true, keySize: 16))
        let authenticated = try Self.bond(Self.gamepad.replacing("Authenticated=2", with: "Authenticated=3"))
        #expect(authenticated.strength.isAuthenticated)
        // What legacy pairing has left beside it is older.
        let both = try Self.bond(
            Self.gamepad
                + "\n[LongTermKey]\nKey=\(String(repeating: "0", count: 32))\nAuthenticated=0\nEncSize=7\nEDiv=1\nRand=1\n"
        )
        #expect(both.centralKey == key && both.strength.keySize == 16)
    }

    @Test("The format of older BlueZ versions can be read")
    func older() throws {
        let old = """
            [General]
            AddressType=static
            [LongTermKey]
            Key=0x0941BDE2BB0A13F60D7E48232CDCFAD7
            Authenticated=1
            Master=0
            EncSize=12
            EDiv=1
            Rand=0x0102030405060708
            """
        let bond = try Self.bond(old)
        #expect(bond.centralKey == nil)
        #expect(
            bond.peripheralKey
                == LongTermKey(
                    key: 0xD7FA_DC2C_2348_7E0D_F613_0ABB_E2BD_4109, encryptedDiversifier: 1,
                    random: 0x0807_0605_0403_0201))
        #expect(bond.strength == KeyStrength(model: .passkeyEntry, usesSecureConnections: false, keySize: 12))
        #expect(bond.identity == nil)
    }

    static let unusable: [(String, String, String)] = [
        ("Key=0941BDE2BB0A13F60D7E48232CDCFAD7", "Key=0941", "Key in [LongTermKey] is not a 16-octet key"),
        (
            "Key=0941BDE2BB0A13F60D7E48232CDCFAD7", "Key=+941BDE2BB0A13F60D7E48232CDCFAD7",
            "Key in [LongTermKey] is not a 16-octet key"
        ),
        (
            "Authenticated=0\nEncSize", "Authenticated=5\nEncSize",
            "Authenticated in [LongTermKey] is not a number from 0 to 4"
        ),
        ("Authenticated=0\nEncSize", "Authenticated=4\nEncSize", "its key is a debug key, which is public"),
        (
            "Authenticated=0\nEncSize", "Authenticated=2\nEncSize",
            "EDiv and Rand in [LongTermKey] are not 0, as LE Secure Connections requires"
        ),
        ("EncSize=16", "EncSize=6", "EncSize in [LongTermKey] is not a number from 7 to 16"),
        ("EncSize=16", "EncSize=17", "EncSize in [LongTermKey] is not a number from 7 to 16"),
        ("EDiv=51189", "EDiv=65536", "EDiv in [LongTermKey] is not a 16-bit number"),
        ("Rand=2641808354939232188", "Rand=-1", "Rand in [LongTermKey] is not a 64-bit number"),
        ("Key=DBC692CEF7A35E34869CF7B4BF3D2ECB", "", "Key in [IdentityResolvingKey] is not a 16-octet key"),
        ("Counter=6", "Counter=x", "Counter in [RemoteSignatureKey] is not a 32-bit number"),
    ]

    @Test("Invalid entries are rejected, and the reason contains no key", arguments: unusable)
    func refused(old: String, new: String, reason: String) {
        #expect(throws: BlueZDevice.Problem(reason)) { try Self.bond(Self.keyboard.replacing(old, with: new)) }
    }

    @Test("A device without LE keys, or with a private address, is not a bond")
    func noKeys() {
        #expect(throws: BlueZDevice.Problem("it is not bonded")) { try Self.bond("[General]\nAddressType=public\n") }
        #expect(throws: BlueZDevice.Problem("it is bonded for BR/EDR only, not for Bluetooth LE")) {
            try Self.bond("[General]\n[LinkKey]\nKey=2345759442D2A78C5D5944B6AAF1F9EC\nType=4\n")
        }
        #expect(throws: BlueZDevice.Problem("its address is private, and does not identify a peer")) {
            try Self.bond(Self.keyboard, 0x4569_86F3_48C2)
        }
    }

    @Test("A whole directory is read, and unusable devices are reported")
    func whole() throws {
        try write(Self.keyboard, to: "8C:68:AB:80:5F:F6/C5:69:86:F3:48:C2/info")
        try write(Self.gamepad, to: "8C:68:AB:80:5F:F6/C8:3F:26:99:39:BE/info")
        try write("[General]\n", to: "8C:68:AB:80:5F:F6/C8:3F:26:99:39:BF/info")
        try write("[General]\nName=A\n", to: "8C:68:AB:80:5F:F6/cache/C5:69:86:F3:48:C2")
        try write("[General]\nDiscoverable=false\n", to: "8C:68:AB:80:5F:F6/settings")
        // The key of the specification's sample data (Core 5.4, Vol 3, Part H, D.7), as BlueZ would write it.
        try write(
            "[General]\nIdentityResolvingKey=9b7d390aa610103405adc857a33402ec\n", to: "8C:68:AB:80:5F:F6/identity")
        try write("", to: "not an address/identity")
        let content = try BlueZStorage.read(directory.path + "/")
        #expect(
            content.adapters.map(\.identity) == [
                DeviceIdentity(
                    address: DeviceAddress(0x8C68_AB80_5FF6, kind: .public),
                    resolvingKey: 0xEC02_34A3_57C8_AD05_3410_10A6_0A39_7D9B)
            ])
        #expect(content.adapters[0].bonds.map(\.address.value) == [0xC569_86F3_48C2, 0xC83F_2699_39BE])
        #expect(content.problems == ["8C:68:AB:80:5F:F6/C8:3F:26:99:39:BF: it is not bonded"])
        #expect(try BlueZStorage.read(directory.path + "/8C:68:AB:80:5F:F6") == content)
    }

    @Test("An adapter without an identity file has no key, and a static address if its settings say so")
    func plain() throws {
        try write("[General]\nAddressType=static\n", to: "C0:68:AB:80:5F:F6/settings")
        let content = try BlueZStorage.read(directory.path)
        #expect(
            content.adapters.map(\.identity) == [
                DeviceIdentity(address: DeviceAddress(0xC068_AB80_5FF6, kind: .random), resolvingKey: 0)
            ])
        #expect(throws: BondStoreError.system("read", path: directory.path + "/nothing", errno: 2)) {
            try BlueZStorage.read(directory.path + "/nothing")
        }
    }
}
