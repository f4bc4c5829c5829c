import BluetoothBase
import Testing

@Suite("Invisible characters")
struct VisibilityTests {
    @Test(
        "Control, format and blank characters are invisible, and others are not",
        arguments: [
            ("a", false), (" ", false), ("é", false), ("❤", false), ("\u{FE0F}", false), ("\u{301}", false),
            ("\u{1B}", true), ("\u{7F}", true), ("\u{9B}", true), ("\u{AD}", true), ("\u{202E}", true),
            ("\u{2028}", true), ("\u{FEFF}", true), ("\u{E000}", true), ("\u{E0001}", true), ("\u{2800}", true),
            ("\u{3164}", true), ("\u{115F}", true), ("\u{FFA0}", true), ("\u{34F}", true),
        ] as [(Unicode.Scalar, Bool)])
    func invisible(_ scalar: Unicode.Scalar, _ isInvisible: Bool) { #expect(scalar.isInvisible == isInvisible) }
}
