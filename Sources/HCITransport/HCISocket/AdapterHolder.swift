/// The process that has exclusive access to an adapter through its user channel.
public struct AdapterHolder: Hashable, Sendable, CustomStringConvertible {
    /// The process ID (PID).
    public var processIdentifier: Int32
    /// The name of the process's program in printable ASCII, if known.
    public var program: String?

    /// Creates a holder from its process ID and, if known, the name of its program.
    public init(processIdentifier: Int32, program: String? = nil) {
        self.processIdentifier = processIdentifier
        self.program = program
    }

    /// `peripheral (process 1234)`.
    public var description: String {
        program.map { "\($0) (process \(processIdentifier))" } ?? "process \(processIdentifier)"
    }
}

extension AdapterHolder {
    /// Describes the process with this ID. A program chooses its own name, so terminal control characters are removed.
    init(running processIdentifier: Int32) {
        let name = SystemFiles.text(of: "/proc/\(processIdentifier)/comm")?.unicodeScalars
            .filter { (0x20...0x7E).contains($0.value) }
        let program = name.map { String(String.UnicodeScalarView($0)) }
        self.init(processIdentifier: processIdentifier, program: program == "" ? nil : program)
    }
}
