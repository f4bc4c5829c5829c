import BluetoothAdapter
import BluetoothBase
import BluetoothHCI
import BluetoothHost
import BluetoothPlatform

/// Starts writers, kills them at random instants, and compares what is on disk with what they had said.
struct KillingRun {
    private(set) var kills = 0
    /// How many had begun a change and not said that it was done.
    private(set) var killsInChange = 0
    private(set) var changes = 0

    private var generator: SeededGenerator
    private let directory: String
    /// The last change of each peer that is known to be on disk.
    private var kept: [UInt32: Change] = [:]
    private var nextSequence: UInt32 = 1

    struct Wrong: Error, CustomStringConvertible {
        let description: String
    }

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        var template = Array("/tmp/bonds-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { fatalError("no temporary directory can be made") }
        directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Starts writers, and kills each while the others go on.
    mutating func kill(writers count: Int) throws {
        let first = nextSequence
        // No writer gets that far.
        nextSequence += 1_000_000
        var writers = try (0..<count).map { try Writer(directory, lane: $0, from: first) }
        writers.shuffle(using: &generator)
        for index in writers.indices {
            try writers[index].awaitChanges(Int.random(in: 0...6, using: &generator))
            spin(Int.random(in: 0...400_000, using: &generator))
            try writers[index].kill()
        }
        kills += count
        for writer in writers {
            for change in writer.done { kept[change.peer] = change }
            changes += writer.done.count
            if writer.pending != nil { killsInChange += 1 }
        }
        try check(writers.compactMap(\.pending))
    }

    func end() throws {
        guard system("rm -rf '\(directory)'") == 0 else { throw Wrong(description: "\(directory) cannot be removed") }
    }

    private func spin(_ count: Int) {
        var value: UInt64 = 1
        for _ in 0..<count { value = value &* 6_364_136_223_846_793_005 &+ 1 }
        // Or the loop would be left out.
        if value == 0 { print("") }
    }

    /// - Parameter pending: changes that may have happened or not.
    private mutating func check(_ pending: [Change]) throws {
        let bonds = try FileBondStore(directory: directory).bonds(of: Change.identity)
        let found = Dictionary(uniqueKeysWithValues: bonds.map { ($0.peer, $0) })
        for peer in 0..<Change.peersPerLane * 2 {
            let before = kept[peer]
            let after = pending.first { $0.peer == peer }
            let bond = found[Change(peer: peer, sequence: 0).peerID]
            if let after, bond == after.bond {
                kept[peer] = after
            } else if bond != before?.bond {
                throw Wrong(
                    description: "the bond with peer \(peer) is neither the old nor the new one; see \(directory)")
            }
        }
        let names = try Self.names(in: directory)
        guard names.allSatisfy({ $0.hasPrefix(".") || $0.hasSuffix(".json") }) else {
            throw Wrong(description: "there is \(names) in \(directory)")
        }
    }

    private static func names(in directory: String) throws -> [String] {
        guard let stream = opendir(directory) else { throw Wrong(description: "\(directory) cannot be read") }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names
    }
}
