import Testing

@testable import VirtualRadio

@Suite("The link layer's block cipher")
struct AESBlockCipherTests {
    @Test("Core 5.4, Vol 6, Part C, 1.1: the session key of the sample data")
    func sampleData() {
        let sessionKey = AESBlockCipher.encrypt(
            key: 0x4C68_3841_39F5_74D8_36BC_F34E_9DFB_01BF, plaintext: 0x0213_2435_4657_6879_ACBD_CEDF_E0F1_0213)
        #expect(sessionKey == 0x99AD_1B52_26A3_7E3E_058E_3B8E_27C2_C666)
    }
}
