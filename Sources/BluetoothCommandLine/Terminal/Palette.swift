import BluetoothPlatform

/// Colours and weights for text on a terminal; plain text elsewhere.
///
/// The environment variable `NO_COLOR`, if it is not empty, turns them off (https://no-color.org), and so does `TERM=dumb`.
public struct Palette: Sendable {
    /// How a piece of text looks.
    public enum Style: Int, Sendable {
        // SGR parameters (ECMA-48, 8.3.117).
        case bold = 1, dim = 2
        case red = 31, green = 32, yellow = 33, blue = 34, magenta = 35, cyan = 36
    }

    /// Whether styles are written.
    public let isColoured: Bool

    public init(isColoured: Bool) { self.isColoured = isColoured }

    /// For what is written to standard output.
    public static var standardOutput: Palette { Palette(descriptor: STDOUT_FILENO) }
    /// For what is written to standard error.
    public static var standardError: Palette { Palette(descriptor: STDERR_FILENO) }

    private init(descriptor: Int32) {
        self.init(isTerminal: isatty(descriptor) == 1) { name in getenv(name).map { String(cString: $0) } }
    }

    init(isTerminal: Bool, environment: (String) -> String?) {
        isColoured = isTerminal && (environment("NO_COLOR") ?? "").isEmpty && environment("TERM") != "dumb"
    }

    /// The text in a style. It must have been escaped before.
    public func callAsFunction(_ style: Style, _ text: String) -> String {
        isColoured ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }
}
