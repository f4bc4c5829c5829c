import BluetoothPlatform

/// A file named on the command line, read from its beginning. The name `-` means standard input.
///
/// Opening and reading a pipe blocks. Use `runInterruptibly` for files that may be pipes.
public final class InputFile: Sendable {
    private let path: String
    private let descriptor: Int32

    /// Opens the file at `path`, or standard input if `path` is `-`.
    ///
    /// - Throws: a usage failure with the file's name if it cannot be opened.
    public init(path: String) throws(CommandFailure) {
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(path) }
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// The next bytes; none at the end.
    public func read(atMost count: Int = 1 << 16) throws(CommandFailure) -> [UInt8] {
        while true {
            var result = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
                result = BluetoothPlatform.read(descriptor, buffer.baseAddress, count)
                initializedCount = max(0, result)
            }
            if result >= 0 { return bytes }
            if errno != EINTR { throw Self.failure(path) }
        }
    }

    /// Reads a whole file.
    ///
    /// - Parameter advice: the remedy for a file that is longer than `maximumSize`, printed after a semicolon.
    /// - Throws: a usage failure with the file's name if it cannot be read or is longer than `maximumSize`.
    public static func contents(
        of path: String, maximumSize: Int, advice: String? = nil
    ) throws(CommandFailure) -> [UInt8] {
        let file = try InputFile(path: path)
        let tooLong = CommandFailure(
            .usage, "\(path): longer than the \(maximumSize) octets allowed" + (advice.map { "; \($0)" } ?? ""))
        // A file that reports its size need not be read to find that it is too long.
        guard file.size ?? 0 <= maximumSize else { throw tooLong }
        var contents: [UInt8] = []
        while true {
            let piece = try file.read()
            if piece.isEmpty { return contents }
            guard piece.count <= maximumSize - contents.count else { throw tooLong }
            contents += piece
        }
    }

    /// The size of the file; nil if only reading determines it.
    private var size: Int? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }

    private static func failure(_ path: String) -> CommandFailure {
        CommandFailure(.usage, "\(path): \(systemError(errno))")
    }
}
