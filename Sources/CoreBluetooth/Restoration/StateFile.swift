import Crypto
import Dispatch
import Foundation

#if canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Where a manager's state is from run to run. It is there as a whole or not at all, whenever the program is killed.
struct StateFile: Sendable {
    let url: URL

    /// What is read and written, one after the other: what is read is what was written last.
    static let queue = DispatchQueue(label: "CoreBluetooth.restoration", qos: .utility)
    /// More than this, in octets, no manager remembers.
    static let maximumLength = 1 << 22
    private static let version = 1
    /// The longest name that is used as it is, in octets.
    private static let longestName = 128

    private struct Header: Decodable {
        let version: Int
    }

    private struct Content<State: Codable>: Codable {
        let version: Int
        let state: State
    }

    /// - Parameters:
    ///   - kind: of the manager.
    ///   - identifier: what the application calls the manager: any text.
    init(_ kind: String, _ identifier: String, in directory: URL) {
        let plain = CharacterSet(charactersIn: "a"..."z").union(CharacterSet(charactersIn: "A"..."Z"))
            .union(CharacterSet(charactersIn: "0"..."9")).union(CharacterSet(charactersIn: "-_."))
        var name = identifier.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
        if name.isEmpty || name.utf8.count > Self.longestName {
            // No name that is used as it is has a plus sign.
            name = "+" + SHA256.hash(data: Data(identifier.utf8)).map { String(format: "%02x", $0) }.joined()
        }
        url = directory.appendingPathComponent("\(kind)-\(name).json")
    }

    // MARK: - Reading

    /// What was kept; nil where there is nothing. A file that cannot be used is set aside, and the log says why. On
    /// `queue`.
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

    /// - Throws: why nothing can be done with it.
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

    /// Puts a state in the place of the one before. On `queue`.
    ///
    /// - Returns: why that did not work, where it did not. What was there before is there still.
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

    /// So that the new name outlasts a loss of power, too. Some file systems have no use for that, and say so.
    private func synchronize(_ directory: URL) {
        let descriptor = open(directory.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}

/// What a manager does that is to go on in the next run.
protocol RestorableState: Codable, Equatable, Sendable {
    /// Whether nothing is to go on.
    var isEmpty: Bool { get }
    /// Whether objects can be made of it. Not so of what somebody else has written into the file.
    var isValid: Bool { get }
}
