import BluetoothPlatform

/// Colours and weights for text on a terminal; plain text elsewhere.
///
/// They are disabled if the environment variable `NO_COLOR` is not empty (https://no-color.org), or if `TERM` is
/// `dumb`.
public struct Palette: Sendable {
    /// The appearance of text.
    public enum Style: Int, Sendable {
        // SGR parameters (ECMA-48, 8.3.117).
        case bold = 1, dim = 2
        case red = 31, green = 32, yellow = 33, blue = 34, magenta = 35, cyan = 36
    }

    /// Whether styles are applied.
    public let isColoured: Bool

    /// Creates a palette that applies styles, or leaves all text plain, regardless of the terminal and the environment.
    public init(isColoured: Bool) { self.isColoured = isColoured }

    /// The palette for standard output.
    public static var standardOutput: Palette { Palette(descriptor: STDOUT_FILENO) }
    /// The palette for standard error.
    public static var standardError: Palette { Palette(descriptor: STDERR_FILENO) }

    private init(descriptor: Int32) {
        self.init(isTerminal: isatty(descriptor) == 1) { name in getenv(name).map { String(cString: $0) } }
    }

    init(isTerminal: Bool, environment: (String) -> String?) {
        isColoured = isTerminal && (environment("NO_COLOR") ?? "").isEmpty && environment("TERM") != "dumb"
    }

    /// The text in a style. It must already be escaped.
    public func callAsFunction(_ style: Style, _ text: String) -> String {
        isColoured ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }
}
