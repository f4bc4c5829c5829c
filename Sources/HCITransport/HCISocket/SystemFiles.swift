import BluetoothPlatform
import CBluetoothHCI

/// Reads the small text files in which the kernel publishes information.
enum SystemFiles {
    /// Returns the first `limit` bytes of a file as text, trimmed, or nil if the file can't be read.
    static func text(of path: String, limit: Int = 256) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while bytes.count < limit {
            let count = read(descriptor, &piece, min(piece.count, limit - bytes.count))
            if count == 0 { break }
            guard count > 0 else { return nil }
            bytes += piece.prefix(count)
        }
        let text = bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns up to `limit` names in a directory, sorted.
    static func names(in directory: String, limit: Int = 256) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while names.count < limit, let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") }
}
