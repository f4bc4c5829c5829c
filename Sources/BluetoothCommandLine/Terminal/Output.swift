import BluetoothBase
import BluetoothPlatform

/// Writes a message to the user as a line on standard error. It does not wait for a reader.
public func say(_ line: String) {
    Diagnostics.standardError.write(line + "\n")
}

/// On a terminal, writes a text for the user that the next one replaces. It is truncated to the width of the line.
public func sayInPlace(_ text: String) {
    let columns = StandardStreams.columns(of: STDERR_FILENO)
    // Some terminals move to the next line after the last column.
    let line = text.count < columns ? text : text.prefix(columns - 2) + "…"
    Diagnostics.standardError.writeInPlace(line)
}

/// The width of the terminal; nil if standard output is not a terminal.
public func terminalColumns() -> Int? {
    isatty(STDOUT_FILENO) == 1 ? StandardStreams.columns(of: STDOUT_FILENO) : nil
}

/// Erases the text written in place, if there is one.
public func eraseLineInPlace() {
    Diagnostics.standardError.endLineInPlace(isKept: false)
}

/// Writes bytes to standard output unchanged. On a terminal, a question or a text in place makes room for them.
public func writeToStandardOutput(_ bytes: [UInt8]) throws(CommandFailure) {
    guard let last = bytes.last else { return }
    try Diagnostics.standardError.makingRoom(endsLine: last == UInt8(ascii: "\n")) { () throws(CommandFailure) in
        try write(bytes, to: STDOUT_FILENO)
    }
}

/// Writes a line to standard output, unbuffered.
public func writeLine(_ line: String) throws(CommandFailure) {
    try writeToStandardOutput([UInt8]((line + "\n").utf8))
}

func write(_ bytes: [UInt8], to descriptor: Int32) throws(CommandFailure) {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { BluetoothPlatform.write(descriptor, $0.baseAddress, $0.count) }
        if count >= 0 {
            rest = rest.dropFirst(count)
        } else if errno == EAGAIN {
            // Another process made the shared descriptor non-blocking.
            var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            poll(&request, 1, -1)
        } else if errno == EPIPE {
            // The reader has closed the output, which is not an error.
            throw CommandFailure(.failure, nil)
        } else if errno != EINTR {
            throw CommandFailure(.failure, "standard output: \(systemError(errno))")
        }
    }
}

func systemError(_ code: Int32) -> String {
    strerror(code).map { String(cString: $0) } ?? "error \(code)"
}

/// A number of things: "1 octet", "20 octets".
public func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

/// A text received from a peer, such as a name, in quotation marks and without terminal control characters.
public func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
        if scalar.isInvisible {
            result += scalar.escaped(asASCII: true)
        } else {
            result += scalar == "\"" ? "\\\"" : String(scalar)
        }
    }
    return result + "\""
}
