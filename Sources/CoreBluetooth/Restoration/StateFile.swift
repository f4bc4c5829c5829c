import Crypto
import Dispatch
import Foundation

#if canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The file of a manager's state. If the program is killed, the file is complete or absent.
struct StateFile: Sendable {
    let url: URL

    /// Reads and writes run in order here, so a read returns what was written last.
    static let queue = DispatchQueue(label: "CoreBluetooth.restoration", qos: .utility)
    /// The largest state file, in octets.
    static let maximumLength = 1 << 22
    private static let version = 1
    /// The longest name that is used unchanged, in octets.
    private static let longestName = 128

    private struct Header: Decodable {
        let version: Int
    }

    private struct Content<State: Codable>: Codable {
        let version: Int
        let state: State
    }

    /// - Parameters:
    ///   - kind: the kind of manager.
    ///   - identifier: the application's name for the manager: any text.
    init(_ kind: String, _ identifier: String, in directory: URL) {
        let plain = CharacterSet(charactersIn: "a"..."z").union(CharacterSet(charactersIn: "A"..."Z"))
            .union(CharacterSet(charactersIn: "0"..."9")).union(CharacterSet(charactersIn: "-_."))
        var name = identifier.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
        if name.isEmpty || name.utf8.count > Self.longestName {
            // No name that is used unchanged has a plus sign.
            name = "+" + SHA256.hash(data: Data(identifier.utf8)).map { String(format: "%02x", $0) }.joined()
        }
        url = directory.appendingPathComponent("\(kind)-\(name).json")
    }

    // MARK: - Reading

    /// The saved state; nil if there is none. An unusable file is set aside, and the log says why. On `queue`.
    func read<State: RestorableState>(_ type: State.Type) -> State? {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        do {
            let handle = try FileHandle(forReadingFrom: url)
            defer { try? handle.close() }
            let data = try handle.read(upToCount: Self.maximumLength + 1) ?? Data()
            guard data.count <= Self.maximumLength else { throw Damage(what: "it is too long") }
            return try Self.decode(type, from: data)
        } catch {
            setAside(error)
            return nil
        }
    }

    /// - Throws: why it cannot be used.
    static func decode<State: RestorableState>(_ type: State.Type, from data: Data) throws -> State {
        let version = try JSONDecoder().decode(Header.self, from: data).version
        guard version == Self.version else { throw Damage(what: "it is of version \(version), not \(Self.version)") }
        let state = try JSONDecoder().decode(Content<State>.self, from: data).state
        guard state.isValid else { throw Damage(what: "it contradicts itself") }
        return state
    }

    private struct Damage: Error, CustomStringConvertible {
        let what: String

        var description: String { what }
    }

    private func setAside(_ error: any Error) {
        let place = url.appendingPathExtension("damaged")
        let isAside = rename(url.path, place.path) == 0
        reportFailure(
            "nothing is restored: \(url.path) cannot be used: \(error); "
                + (isAside ? "it is now \(place.lastPathComponent)" : "it cannot be set aside either, remove it"))
    }

    // MARK: - Writing

    /// Replaces the saved state. On `queue`.
    ///
    /// - Returns: the error, if it failed. The previous state is then still there.
    func write<State: RestorableState>(_ state: State) -> String? {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let data = try encoder.encode(Content(version: Self.version, state: state))
            guard data.count <= Self.maximumLength else { return "it would be too long" }
            let directory = url.deletingLastPathComponent()
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let temporary = directory.appendingPathComponent(".\(url.lastPathComponent).new")
            let descriptor = open(temporary.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { return String(cString: strerror(errno)) }
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try handle.write(contentsOf: data)
            try handle.synchronize()
            try handle.close()
            guard rename(temporary.path, url.path) == 0 else { return String(cString: strerror(errno)) }
            synchronize(directory)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Makes the new name survive a loss of power. Some file systems do not support this, and say so.
    private func synchronize(_ directory: URL) {
        let descriptor = open(directory.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}

/// What a manager does that is to go on in the next run.
protocol RestorableState: Codable, Equatable, Sendable {
    /// Whether there is nothing to continue.
    var isEmpty: Bool { get }
    /// Whether objects can be made from it. Not if another program wrote the file.
    var isValid: Bool { get }
}
