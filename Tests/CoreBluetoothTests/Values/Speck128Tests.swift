import Testing

@testable import CoreBluetooth

@Suite("The cipher of identifiers")
struct Speck128Tests {
    @Test("A block is encrypted as in the specification, and decrypted again")
    func vector() {
        let cipher = Speck128(key: .init(left: 0x0F0E_0D0C_0B0A_0908, right: 0x0706_0504_0302_0100))
        let plain = Speck128.Block(left: 0x6C61_7669_7571_6520, right: 0x7469_2065_6461_6D20)
        let encrypted = cipher.encrypted(plain)
        #expect(encrypted == .init(left: 0xA65D_9851_7978_3265, right: 0x7860_FEDF_5C57_0D18))
        #expect(cipher.decrypted(encrypted) == plain)
    }
}
