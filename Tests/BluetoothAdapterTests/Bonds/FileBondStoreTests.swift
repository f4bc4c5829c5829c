import BluetoothBase
import BluetoothHost
import BluetoothPlatform
import BluetoothSMP
import Testing

@testable import BluetoothAdapter

@Suite("Bonds on disk")
struct FileBondStoreTests {
    private let directory = TemporaryDirectory()
    private let name = "001bdc000001-public.json"
    private var path: String { directory.path + "/" + name }
    private var store: FileBondStore { FileBondStore(directory: directory.path) }

    @Test("Only the current user can read the files")
    func permissions() throws {
        let store = FileBondStore(directory: directory.path + "/state/bonds")
        try store.save(BondSamples.full(), of: BondSamples.local)
        #expect(directory.mode(of: "state") == 0o700)
        #expect(directory.mode(of: "state/bonds") == 0o700)
        #expect(directory.mode(of: "state/bonds/" + name) == 0o600)
        #expect(directory.mode(of: "state/bonds/.lock") == 0o600)
    }

    @Test("A bond is written in exactly this format")
    func text() throws {
        var bond = BondSamples.bare()
        bond.peripheralKey = LongTermKey(key: 0xAB, encryptedDiversifier: 1, random: .max)
        try store.save(bond, of: BondSamples.local)
        #expect(
            try directory.text(of: name) == #"{"bonds":[{"address":"C0:00:00:00:00:01","peer":"C0:00:00:00:00:01","#
                + #""peripheralKey":{"encryptedDiversifier":1,"key":"000000000000000000000000000000ab","#
                + #""random":"18446744073709551615"},"#
                + #""strength":{"keySize":7,"model":"justWorks","usesSecureConnections":false}}],"controllers":[],"#
                + #""identity":{"address":"00:1B:DC:00:00:01\/P","resolvingKey":"00000000000000000000000000000011"},"#
                + #""version":1}"# + "\n")
        #expect(try directory.names == [name])
    }

    @Test("Two stores see each other's changes at once, and neither undoes the other's")
    func twoStores() throws {
        let (one, other) = (store, store)
        try one.save(BondSamples.full(1), of: BondSamples.local)
        try other.save(BondSamples.bare(2), of: BondSamples.local)
        #expect(try one.bonds(of: BondSamples.local).count == 2)
        try one.remove(BondSamples.full(1).peer, of: BondSamples.local)
        try other.save(BondSamples.bare(3), of: BondSamples.local)
        #expect(try one.bonds(of: BondSamples.local) == [BondSamples.bare(2), BondSamples.bare(3)])
    }

    @Test("Many threads, each with its own store, lose no bond")
    func manyThreads() async throws {
        let path = directory.path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in UInt64(0)..<8 {
                group.addTask {
                    let store = FileBondStore(directory: path, patience: .seconds(60))
                    for step in UInt64(0)..<8 {
                        try store.save(BondSamples.bare(number * 8 + step), of: BondSamples.local)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try store.bonds(of: BondSamples.local).count == 64)
    }

    @Test("Saving fails if another program holds the lock for too long, and reading needs no lock")
    func busy() throws {
        let lock = try FileLock(directory: directory.path, patience: .zero)
        let store = FileBondStore(directory: directory.path, patience: .zero)
        #expect(throws: BondStoreError.busy(path: directory.path + "/.lock")) {
            try store.save(BondSamples.bare(), of: BondSamples.local)
        }
        // Reading takes no lock.
        #expect(try store.bonds(of: BondSamples.local) == [])
        lock.release()
        try store.save(BondSamples.bare(), of: BondSamples.local)
    }

    // MARK: - Damage

    static let damage: [(text: String, reason: String)] = [
        ("", "it is empty"),
        ("bonds", "it is not JSON"),
        (#"{"version":1,"identity":{"#, "it is not JSON"),
        (#"{}"#, "version is missing in the file"),
        (#"{"version":0}"#, "format version 0 does not exist"),
        (#"{"version":1,"bonds":[],"controllers":[]}"#, "identity is missing in the file"),
        (
            #"{"version":1,"bonds":[],"controllers":[],"identity":{"address":"00:1B:DC:00:00:01\/P","resolvingKey":"+f"}}"#,
            "identity.resolvingKey is invalid"
        ),
        (
            #"{"version":1,"bonds":[],"controllers":[],"identity":{"address":"40:1B:DC:00:00:01\/R","resolvingKey":""#
                + String(repeating: "0", count: 32) + #""}}"#,
            "its content is inconsistent"
        ),
        (
            #"{"version":1,"bonds":[],"controllers":[],"identity":{"address":"00:1B:DC:00:00:02\/P","resolvingKey":""#
                + String(repeating: "0", count: 32) + #""}}"#,
            "its identity does not match its name"
        ),
    ]

    @Test("A damaged file is set aside and reported, and the store continues without it", arguments: damage)
    func damaged(text: String, reason: String) throws {
        try directory.write(text, to: name)
        #expect(throws: BondStoreError.damaged(path: path, reason: reason, setAside: path + ".damaged")) {
            try store.bonds(of: BondSamples.local)
        }
        #expect(try directory.names == [name + ".damaged"])
        #expect(try directory.text(of: name + ".damaged") == text)
        #expect(try store.bonds(of: BondSamples.local) == [])
    }

    @Test("A damaged file is never overwritten, not even by a second damaged file")
    func twice() throws {
        try directory.write("one", to: name)
        #expect(throws: BondStoreError.self) { try store.save(BondSamples.bare(), of: BondSamples.local) }
        try directory.write("two", to: name)
        #expect(throws: BondStoreError.self) { try store.identities() }
        try store.save(BondSamples.bare(), of: BondSamples.local)
        #expect(try directory.names == [name, name + ".damaged", name + ".damaged.2"])
        #expect(try directory.text(of: name + ".damaged") == "one")
        #expect(try directory.text(of: name + ".damaged.2") == "two")
    }

    @Test("A file truncated at any octet is damaged, and the error contains none of it")
    func cutOff() throws {
        let bytes = BondFile.bytes(
            of:
                BondFile(try #require(BondShelf(BondSamples.local, controllers: [], bonds: [BondSamples.full()]))))
        #expect(try BondFile.decode(bytes).bonds == [BondSamples.full()])
        // The last octet ends the line.
        for count in 0..<bytes.count - 1 {
            #expect(throws: BondFile.Problem.damaged(count == 0 ? "it is empty" : "it is not JSON")) {
                try BondFile.decode(Array(bytes.prefix(count)))
            }
        }
    }

    @Test("A file that is too long is set aside unread")
    func tooLong() throws {
        try directory.write("", to: name)
        truncate(path, FileBondStore.maximumLength + 1)
        #expect(
            throws: BondStoreError.damaged(
                path: path, reason: "it is longer than 33554432 octets", setAside: path + ".damaged")
        ) { try store.bonds(of: BondSamples.local) }
    }

    @Test("A pipe in place of the file does not block the store")
    func pipe() throws {
        mkfifo(path, 0o600)
        #expect(throws: BondStoreError.damaged(path: path, reason: "it is not a file", setAside: path + ".damaged")) {
            try store.bonds(of: BondSamples.local)
        }
    }

    @Test("A file of a later version is left unchanged")
    func laterVersion() throws {
        try directory.write(#"{"version":2,"bonds":{}}"#, to: name)
        #expect(throws: BondStoreError.laterVersion(path: path)) { try store.bonds(of: BondSamples.local) }
        #expect(throws: BondStoreError.laterVersion(path: path)) {
            try store.save(BondSamples.bare(), of: BondSamples.local)
        }
        #expect(try directory.names == [name])
    }

    // MARK: - Places

    @Test("Files that others can read or replace are rejected")
    func exposed() throws {
        try store.save(BondSamples.bare(), of: BondSamples.local)
        chmod(path, 0o640)
        #expect(throws: BondStoreError.exposed(path: path, isDirectory: false)) {
            try store.bonds(of: BondSamples.local)
        }
        #expect(throws: BondStoreError.exposed(path: path, isDirectory: false)) {
            try store.save(BondSamples.bare(2), of: BondSamples.local)
        }
        chmod(path, 0o600)
        chmod(directory.path, 0o770)
        #expect(throws: BondStoreError.exposed(path: directory.path, isDirectory: true)) {
            try store.bonds(of: BondSamples.local)
        }
        chmod(directory.path, 0o755)
        #expect(try store.bonds(of: BondSamples.local) == [BondSamples.bare()])
    }

    @Test("A read-only directory can be read, and saving to it fails with an error", .disabled(if: geteuid() == 0))
    func readOnly() throws {
        try store.save(BondSamples.bare(), of: BondSamples.local)
        unlink(directory.path + "/.lock")
        chmod(directory.path, 0o500)
        defer { chmod(directory.path, 0o700) }
        #expect(throws: BondStoreError.system("write", path: directory.path + "/.lock", errno: EACCES)) {
            try store.save(BondSamples.bare(2), of: BondSamples.local)
        }
        #expect(try store.bonds(of: BondSamples.local) == [BondSamples.bare()])
    }

    @Test("Saving throws the system's error if the directory cannot be created")
    func noDirectory() throws {
        try directory.write("", to: "file")
        let store = FileBondStore(directory: directory.path + "/file/bonds")
        #expect(throws: BondStoreError.system("create", path: directory.path + "/file/bonds", errno: ENOTDIR)) {
            try store.save(BondSamples.bare(), of: BondSamples.local)
        }
    }

    static let places: [([String: String], String?)] = [
        ([:], nil), (["HOME": ""], nil), (["HOME": "relative", "XDG_STATE_HOME": "relative"], nil),
        (["HOME": "/home/a"], "/home/a/.local/state/swift-bluetooth-le"),
        (["HOME": "/home/a", "XDG_STATE_HOME": "/state"], "/state/swift-bluetooth-le"),
        (["HOME": "/home/a", "STATE_DIRECTORY": "/var/lib/a:/var/lib/b"], "/var/lib/a"),
    ]

    @Test("The default directory follows the environment", arguments: places)
    func place(environment: [String: String], expected: String?) throws {
        let state = StateDirectory.path { environment[$0] }
        #expect(state == expected)
        if let expected {
            #expect(try FileBondStore(defaultIn: state).directory == expected + "/bonds")
        } else {
            #expect(throws: BondStoreError.noDirectory) { try FileBondStore(defaultIn: state) }
        }
    }
}
