/// The version of this package, which every program prints with `--version`. It is defined only here.
public enum ProgramVersion {
    /// The version as `MAJOR.MINOR.PATCH`.
    public static let number = "0.1.0"

    /// The line that a program prints.
    public static func line(of program: String) -> String { "\(program) \(number)" }
}
