import ArgumentParser
import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import BluetoothPlatform
import BluetoothSMP
import BluetoothCommandLine

/// `ble bonds`: manages the bonds that are stored on this machine.
struct Bonds: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists, removes, exports and imports bonds: the stored keys of paired devices.",
        discussion: HelpText.discussion(
            """
            Bonds are stored in $XDG_STATE_HOME/swift-bluetooth-le/bonds, or in \
            ~/.local/state/swift-bluetooth-le/bonds. A running program sees a change the next time it opens its \
            adapter. Keys are never shown.
            """,
            examples: ["ble bonds list", "ble bonds remove C0:11:22:33:44:55"]),
        subcommands: [List.self, Remove.self, Export.self, Import.self])

    /// The maximum length of a file to import or export, in octets, with room for thousands of bonds. Decoding needs
    /// many times as much memory.
    static let longestArchive = 1 << 24

    /// The options that select bonds.
    struct Choice: ParsableArguments {
        @OptionGroup var place: BondOptions

        @Option(help: ArgumentHelp("Only bonds of the adapter with this identity address.", valueName: "address"))
        var adapter: DeviceAddress?

        func open() throws -> FileBondStore {
            try withFailures { try place.store ?? FileBondStore() }
        }

        /// The selected identities, each with its bonds.
        func adapters(of store: FileBondStore) throws -> [(identity: DeviceIdentity, bonds: [Bond])] {
            let all = try withFailures { try store.identities().map { ($0, try store.bonds(of: $0)) } }
            guard let adapter else { return all }
            return all.filter { PeerID($0.0.address) == PeerID(adapter) }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the bonds of each adapter, with addresses and key strengths.",
            discussion: HelpText.discussion(
                "", examples: ["ble bonds list", "ble bonds list --json | jq -r .address"]))

        @OptionGroup var choice: Choice

        @Flag(help: "Print a JSON object for each bond.")
        var json = false

        func run() async throws {
            let store = try choice.open()
            let adapters = try choice.adapters(of: store)
            for line in json ? BondLines.objects(adapters) : BondLines.table(adapters) { try writeLine(line) }
            if adapters.isEmpty { say("ble: there are no bonds in \(store.directory)") }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Removes the bond with a device. To use the device again, pair with it again.",
            discussion: HelpText.discussion(
                "Exits with status 1 if there is no such bond.",
                examples: ["ble bonds remove C0:11:22:33:44:55"]))

        @OptionGroup var choice: Choice

        @Argument(help: "The address, as ble bonds list shows it.")
        var address: DeviceAddress

        func run() async throws {
            let store = try choice.open()
            let holders = try choice.adapters(of: store).compactMap { adapter in
                adapter.bonds.first { $0.isWith(address) }.map { (adapter.identity, $0) }
            }
            guard let (identity, bond) = holders.first else {
                throw CommandFailure(.failure, "there is no bond with \(address); ble bonds list shows all bonds")
            }
            guard holders.count == 1 else {
                let adapters = holders.map { "\($0.0.address)" }.joined(separator: ", ")
                throw CommandFailure(
                    .usage, "\(holders.count) adapters have a bond with \(address); choose with --adapter: \(adapters)")
            }
            _ = try withFailures { try store.remove(bond.peer, of: identity) }
            try writeLine("removed the bond with \(address), of \(identity.address)")
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Writes bonds to a new file, WITH THEIR KEYS, for ble bonds import on another machine.",
            discussion: HelpText.discussion(
                """
                Anyone who has the file can decrypt the traffic and impersonate the devices. Only you can read it. \
                Remove it when it is no longer needed. An existing file is not overwritten.
                """,
                examples: ["ble bonds export bonds.json"]))

        @OptionGroup var choice: Choice

        @Argument(help: "The file to write.")
        var file: String

        func run() async throws {
            let store = try choice.open()
            let adapters = try choice.adapters(of: store)
            let count = adapters.reduce(0) { $0 + $1.bonds.count }
            guard count > 0 else {
                throw CommandFailure(.failure, "there are no bonds to export in \(store.directory)")
            }
            let archive = try withFailures { try BondArchive(adapters).encode() }
            guard archive.count <= Bonds.longestArchive else {
                throw CommandFailure(
                    .usage, "\(counted(count, "bond")) are too many for one file; choose an adapter with --adapter")
            }
            try PrivateFile.create(file, archive)
            try writeLine(
                "\(file) contains the keys of \(counted(count, "bond")); keep it secret, and remove it when it is no "
                    + "longer needed")
        }
    }

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Imports bonds from BlueZ, or from a file that ble bonds export wrote.",
            discussion: HelpText.discussion(
                """
                BlueZ stores its bonds in /var/lib/bluetooth, which only root can read. A copy, or the directory of \
                one adapter, also works. BlueZ's bonds do not change. Let only one of the two programs use an adapter; \
                otherwise both use the same signature counters. Existing bonds are not replaced.
                """,
                examples: ["sudo ble bonds import /var/lib/bluetooth", "ble bonds import bonds.json"]))

        @OptionGroup var choice: Choice

        @Argument(help: "BlueZ's directory, or the file.")
        var path: String

        func run() async throws {
            let store = try choice.open()
            var status = stat()
            guard stat(path, &status) == 0 else {
                throw CommandFailure(.usage, "\(path): \(String(cString: strerror(errno)))")
            }
            var found: [(identity: DeviceIdentity, bonds: [Bond])]
            var problems: [String] = []
            if status.st_mode & S_IFMT == S_IFDIR {
                let content = try withFailures { try BlueZStorage.read(path) }
                (found, problems) = (content.adapters, content.problems)
            } else {
                let path = path
                let bytes = try await runInterruptibly { () throws(CommandFailure) in
                    try InputFile.contents(
                        of: path, maximumSize: Bonds.longestArchive,
                        advice: "import a file that ble bonds export wrote, or a directory of BlueZ")
                }
                found = try withFailures { try BondArchive(decoding: bytes, path: path).adapters }
            }
            if let adapter = choice.adapter { found = found.filter { PeerID($0.identity.address) == PeerID(adapter) } }
            var count = 0
            for (identity, bonds) in found where !bonds.isEmpty {
                count += try take(bonds, of: identity, into: store, &problems)
            }
            for problem in problems { say("ble: not imported: \(problem)") }
            guard count > 0 else { throw CommandFailure(.failure, "there is no bond to import in \(path)") }
            try writeLine("\(count == 1 ? "1 bond is" : "\(count) bonds are") now in \(store.directory)")
        }

        private func take(
            _ bonds: [Bond], of identity: DeviceIdentity, into store: FileBondStore, _ problems: inout [String]
        ) throws -> Int {
            do throws(BondStoreError) {
                try store.keep(identity, for: identity.address)
                let known = Set(try store.bonds(of: identity).map(\.peer))
                var count = 0
                for bond in bonds {
                    guard !known.contains(bond.peer) else {
                        problems.append("there is already a bond with \(bond.address); remove it first")
                        continue
                    }
                    try store.save(bond, of: identity)
                    count += 1
                }
                return count
            } catch {
                guard error.code == .identityInUse else { throw CommandFailure(.failure, "\(error)") }
                problems.append("\(counted(bonds.count, "bond")) of \(identity.address): \(error)")
                return 0
            }
        }
    }
}

extension Bond {
    /// Whether the peer has this address, or had it when it was first seen.
    fileprivate func isWith(_ address: DeviceAddress) -> Bool {
        [peer, PeerID(self.address)].contains(PeerID(address))
    }
}

/// Converts the errors of a store to failures of the program.
private func withFailures<Value>(_ body: () throws -> Value) throws -> Value {
    do {
        return try body()
    } catch let error as BondStoreError {
        throw CommandFailure(.failure, "\(error)")
    }
}
