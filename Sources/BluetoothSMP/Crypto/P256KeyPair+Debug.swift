extension P256KeyPair {
    /// The well-known debug key pair of the specification (Core 5.4, Vol 3, Part H, 2.3.5.6.1).
    public static let debug = P256KeyPair(
        privateKey: FieldElement(
            high: 0x3F49_F6D4_A3C5_5F38_74C9_B3E3_D210_3F50, low: 0x4AFF_607B_EB40_B799_5899_B8A6_CD3C_1ABD),
        publicKey: P256PublicKey(
            x: FieldElement(
                high: 0x20B0_03D2_F297_BE2C_5E2C_83A7_E9F9_A5B9, low: 0xEFF4_9111_ACF4_FDDB_CC03_0148_0E35_9DE6),
            y: FieldElement(
                high: 0xDC80_9C49_652A_EB6D_6332_9ABF_5A52_155C, low: 0x7663_45C2_8FED_3024_741C_8ED0_1589_D28B)))
}
