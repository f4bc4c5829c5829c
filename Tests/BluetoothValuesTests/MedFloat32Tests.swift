import BluetoothValues
import Testing

@Suite("MedFloat32")
struct MedFloat32Tests {
    @Test(
        "a number is its mantissa times a power of ten",
        arguments: [
            (0x0000_0000, 0), (0x0000_0025, 37), (0xFF00_016C, 36.4), (0xFE00_0E38, 36.4), (0x0200_000A, 1000),
            (0xFFFF_FFFF, -0.1), (0xFDFF_FFFF, -0.001), (0x007F_FFFD, 8_388_605), (0x0080_0003, -8_388_605),
            (0x1600_0001, 1e22), (0xEA00_0001, 1e-22), (0xFA7F_FFFD, 8.388605),
        ] as [(UInt32, Double)])
    func number(_ rawValue: UInt32, value: Double) {
        let number = MedFloat32(rawValue: rawValue)
        #expect(Double(number) == value)
        #expect(number.isFinite)
        #expect("\(number)" == "\(value)")
    }

    @Test("the largest and the smallest exponent", arguments: [(0x7F00_0001, 1e127), (0x8000_0001, 1e-128)])
    func exponent(_ rawValue: UInt32, value: Double) {
        #expect(abs(Double(MedFloat32(rawValue: rawValue)) / value - 1) < 1e-12)
    }

    @Test("exponent and mantissa of a number")
    func parts() {
        let number = MedFloat32(rawValue: 0xFDFF_FFF6)
        #expect(number.exponent == -3)
        #expect(number.mantissa == -10)
    }

    @Test(
        "the special values, whatever their exponent",
        arguments: [
            (.nan, .nan, "NaN"), (.notAtThisResolution, .nan, "NRes"), (.reserved, .nan, "reserved"),
            (.positiveInfinity, .infinity, "+INFINITY"), (.negativeInfinity, -.infinity, "-INFINITY"),
        ] as [(MedFloat32, Double, String)])
    func special(_ number: MedFloat32, value: Double, text: String) {
        for exponent in [0, 1, 0x7F, 0x80, 0xFF] as [UInt32] {
            let number = MedFloat32(rawValue: exponent << 24 | number.rawValue)
            let double = Double(number)
            #expect(double == value || (double.isNaN && value.isNaN))
            #expect(!number.isFinite)
            #expect("\(number)" == text)
        }
    }

    @Test(
        "numbers are rounded to a power of ten",
        arguments: [
            (36.4, -2, 0xFE00_0E38), (36.4, -1, 0xFF00_016C), (36.449, -1, 0xFF00_016C), (36.4, 0, 0x0000_0024),
            (-0.1, -2, 0xFEFF_FFF6), (1049, 2, 0x0200_000A), (0, -128, 0x8000_0000), (-0.0, 127, 0x7F00_0000),
            (83886.05, -2, 0xFE7F_FFFD), (-83886.05, -2, 0xFE80_0003), (83886.06, -2, 0x0080_0000),
            (-83886.06, -2, 0x0080_0000), (.greatestFiniteMagnitude, -2, 0x0080_0000), (1, -128, 0x0080_0000),
            (.nan, -2, 0x007F_FFFF), (.infinity, -2, 0x007F_FFFE), (-.infinity, 5, 0x0080_0002),
        ] as [(Double, Int8, UInt32)])
    func rounding(_ value: Double, exponent: Int8, rawValue: UInt32) {
        #expect(MedFloat32(value, exponent: exponent).rawValue == rawValue)
    }
}
