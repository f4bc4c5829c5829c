/// The version of this package, which every program tells with `--version`. The only place that has it.
public enum ProgramVersion {
    public static let number = "0.1.0"

    /// The line that a program prints.
    public static func line(of program: String) -> String { "\(program) \(number)" }
}
