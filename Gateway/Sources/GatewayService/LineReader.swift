import Foundation

/// Reads lines from a file descriptor, and checks regularly whether it should stop.
struct LineReader {
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    /// The start of the part of the buffer that was not returned yet.
    private var start = 0
    private var hasEnded = false

    /// Longer lines are split.
    private static let maximumLength = 65_536

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// The next line without its line feed; nil at the end of the file, or when reading is cancelled.
    mutating func next(until isCancelled: () -> Bool) -> String? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return String(decoding: buffer[start..<end], as: UTF8.self)
            }
            if hasEnded || buffer.count - start > Self.maximumLength {
                guard start < buffer.count else { return nil }
                defer { start = buffer.count }
                return String(decoding: buffer[start...], as: UTF8.self)
            }
            searched = buffer.count - start
            buffer.removeFirst(start)
            start = 0
            guard read(isCancelled) else { return nil }
        }
    }

    private mutating func read(_ isCancelled: () -> Bool) -> Bool {
        var octets = [UInt8](repeating: 0, count: 65_536)
        while !isCancelled() {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, 200) > 0 else { continue }
            let count = Foundation.read(descriptor, &octets, octets.count)
            if count < 0 && (errno == EINTR || errno == EAGAIN) { continue }
            if count <= 0 { hasEnded = true } else { buffer += octets[..<count] }
            return true
        }
        return false
    }
}
