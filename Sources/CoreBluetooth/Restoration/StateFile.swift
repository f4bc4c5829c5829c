import BluetoothAdapter
import Dispatch
import Foundation

/// The file of a manager's state. If the program is killed, the file is complete or absent.
struct StateFile: Sendable {
    private enum Storage: Sendable {
        case disk(DurableFile)
        case memory(MemoryState, name: String)
    }

    private let storage: Storage

    /// Where the file is, for messages, and to tell it from other files.
    var location: String {
        switch storage {
        case .disk(let file): URL(fileURLWithPath: file.path).standardizedFileURL.path
        case .memory(let state, let name): "memory:\(UInt(bitPattern: ObjectIdentifier(state).hashValue))/\(name)"
        }
    }

    /// Serializes reads and writes, so a read returns what was written last.
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
    init(_ kind: String, _ identifier: String, in place: StatePlace) {
        let plain = CharacterSet(charactersIn: "a"..."z").union(CharacterSet(charactersIn: "A"..."Z"))
            .union(CharacterSet(charactersIn: "0"..."9")).union(CharacterSet(charactersIn: "-_."))
        var name = identifier.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
        if name.isEmpty || name.utf8.count > Self.longestName {
            // No name that is used unchanged contains a plus sign.
            name = "+" + String(Self.hash(of: identifier), radix: 16)
        }
        name = "\(kind)-\(name).json"
        storage =
            switch place {
            case .directory(let directory):
                .disk(DurableFile(directory: directory.path, name: name, maximumLength: Self.maximumLength))
            case .memory(let state): .memory(state, name: name)
            }
    }

    /// The FNV-1a hash of a text, which is the same in every run. The application chooses its identifiers, so that none
    /// is made to collide with another one.
    private static func hash(of text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    // MARK: - Reading

    /// The saved state; nil if there is none. An unusable file is set aside, and the log states why. Call on `queue`.
    func read<State: RestorableState>(_ type: State.Type) -> State? {
        do {
            return try content().map { try Self.decode(type, from: $0) }
        } catch {
            setAside(error)
            return nil
        }
    }

    private func content() throws(FileFailure) -> Data? {
        switch storage {
        case .disk(let file): try file.read().map { Data($0.bytes) }
        case .memory(let state, let name): state[name]
        }
    }

    /// - Throws: an error that states why the data cannot be used.
    static func decode<State: RestorableState>(_ type: State.Type, from data: Data) throws -> State {
        let version = try JSONDecoder().decode(Header.self, from: data).version
        guard version == Self.version else { throw Damage(what: "its version is \(version), not \(Self.version)") }
        let state = try JSONDecoder().decode(Content<State>.self, from: data).state
        guard state.isValid else { throw Damage(what: "its content is inconsistent") }
        return state
    }

    private struct Damage: Error, CustomStringConvertible {
        let what: String

        var description: String { what }
    }

    private func setAside(_ error: any Error) {
        guard case .disk(let file) = storage else {
            return reportFailure("no state is restored: \(location) cannot be used: \(error)")
        }
        let place = file.setAside()
        reportFailure(
            "no state is restored: \(file.path) cannot be used: \(error); "
                + (place.map { "it was moved to \($0)" } ?? "it cannot be set aside either; remove it"))
    }

    // MARK: - Writing

    /// Replaces the saved state. Call on `queue`.
    ///
    /// - Returns: the error, if writing failed. The previous state is then unchanged.
    func write<State: RestorableState>(_ state: State) -> String? {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let data = try encoder.encode(Content(version: Self.version, state: state))
            switch storage {
            case .disk(let file): try file.write([UInt8](data))
            case .memory(let state, let name): state[name] = data
            }
            return nil
        } catch {
            return "\(error)"
        }
    }
}

/// The state of a manager that the next run continues.
protocol RestorableState: Codable, Equatable, Sendable {
    /// Whether there is nothing to continue.
    var isEmpty: Bool { get }
    /// Whether objects can be created from it. This can be false if another program wrote the file.
    var isValid: Bool { get }
}
