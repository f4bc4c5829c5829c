import BluetoothBase
import BluetoothCrypto
import BluetoothSMP
import Testing

/// The toolbox agrees with an implementation that has nothing to do with it.
struct OtherImplementationTests {
    let crypto = LibraryToolbox()

    @Test func `The legacy pairing functions return the same values as another implementation`() {
        for row in OtherImplementation.ah { #expect(crypto.ah(row.k, row.r) == row.hash) }
        for row in OtherImplementation.s1 { #expect(crypto.s1(row.k, row.r1, row.r2) == row.key) }
        for row in OtherImplementation.c1 {
            #expect(
                crypto.c1(row.k, row.r, preq: row.preq, pres: row.pres, ia: row.ia, ra: row.ra) == row.confirm)
        }
    }

    @Test func `The LE Secure Connections functions return the same values as another implementation`() {
        for row in OtherImplementation.f4 { #expect(crypto.f4(row.u, row.v, row.x, row.z) == row.confirm) }
        for row in OtherImplementation.f5 {
            let keys = crypto.f5(row.w, row.n1, row.n2, row.a1, row.a2)
            #expect(keys == (row.macKey, row.key))
        }
        for row in OtherImplementation.f6 {
            #expect(crypto.f6(row.w, row.n1, row.n2, row.r, ioCap: row.ioCap, row.a1, row.a2) == row.check)
        }
        // Bumble gives the decimal digits, the specification 32 bits.
        for row in OtherImplementation.g2 {
            #expect(crypto.g2(row.u, row.v, row.x, row.y) % 1_000_000 == row.number % 1_000_000)
        }
        for row in OtherImplementation.h {
            #expect(crypto.h6(row.w, keyID: row.keyID) == row.h6)
            #expect(crypto.h7(salt: row.salt, row.w) == row.h7)
        }
    }

    @Test func `Signatures equal those of another implementation`() {
        for row in OtherImplementation.signatures {
            let message = [UInt8](hexadecimal: row.message) ?? []
            #expect(
                crypto.signature(key: row.key, message: message.span, counter: row.counter) == row.signature)
        }
    }
}
