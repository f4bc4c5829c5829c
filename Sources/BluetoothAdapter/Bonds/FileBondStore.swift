import BluetoothBase
import BluetoothHost
import BluetoothSMP
import Synchronization

/// Bonds on disk: a file for each identity of this device.
///
/// Any number of stores, in this program or others, may use one directory at the same time. Each change reads the file,
/// changes one bond of it and replaces the file, while no other can. A program that is killed at any instant leaves the
/// state before or after its change. `Documentation/Security.md` describes the files.
public final class FileBondStore: BondStore {
    /// Where the files are. It is made when the first is written.
    public let directory: String
    private let patience: Duration
    /// Threads of this program wait for each other here, and for other programs at the lock file.
    private let turn = Mutex(())

    /// The most octets of a file.
    static let maximumLength = 1 << 25
    private static let suffix = ".json"

    /// - Parameter patience: how long a call waits for another program that is changing the store.
    public init(directory: String, patience: Duration = .seconds(2)) {
        self.directory = directory
        self.patience = patience
    }

    /// `bonds` in `$STATE_DIRECTORY`, which systemd sets, else in `$XDG_STATE_HOME/swift-bluetooth-le` or
    /// `~/.local/state/swift-bluetooth-le`.
    ///
    /// - Throws: `.noDirectory` if the environment says none of these.
    public convenience init() throws(BondStoreError) {
        try self.init(defaultIn: StateDirectory.path())
    }

    convenience init(defaultIn state: String?) throws(BondStoreError) {
        guard let state else { throw .noDirectory }
        self.init(directory: state + "/bonds")
    }

    // MARK: - Reading

    public func identities() throws(BondStoreError) -> [DeviceIdentity] { try shelves().map(\.identity) }

    public func identity(for controller: DeviceAddress) throws(BondStoreError) -> DeviceIdentity? {
        BondShelf.ofController(controller, in: try shelves())?.identity
    }

    public func bonds(of local: DeviceIdentity) throws(BondStoreError) -> [Bond] {
        guard let shelf = try shelf(in: file(of: local.address)) else { return [] }
        return try shelf.bonds(of: local)
    }

    private func shelves() throws(BondStoreError) -> [BondShelf] {
        var shelves: [BondShelf] = []
        for name in try names() {
            if let shelf = try shelf(in: file(name)) { shelves.append(shelf) }
        }
        return shelves
    }

    // MARK: - Changing

    public func keep(_ identity: DeviceIdentity, for controller: DeviceAddress) throws(BondStoreError) {
        try withLock { () throws(BondStoreError) in
            try change(identity) { (shelf) throws(BondStoreError) in try shelf.keep(identity, for: controller) }
            let own = file(of: identity.address).name
            for name in try names() where name != own {
                guard let shelf = try read(file(name)) else { continue }
                var changed = shelf
                changed.leave(controller)
                if changed != shelf { try write(changed) }
            }
        }
    }

    public func save(_ bond: Bond, of local: DeviceIdentity) throws(BondStoreError) {
        try withLock { () throws(BondStoreError) in
            try change(local) { (shelf) throws(BondStoreError) in try shelf.save(bond, of: local) }
        }
    }

    @discardableResult
    public func remove(_ peer: PeerID, of local: DeviceIdentity) throws(BondStoreError) -> Bool {
        guard let shelf = try shelf(in: file(of: local.address)) else { return false }
        guard try shelf.bonds(of: local).contains(where: { $0.peer == peer }) else { return false }
        return try withLock { () throws(BondStoreError) in
            try change(local) { (shelf) throws(BondStoreError) in try shelf.remove(peer, of: local) }
        }
    }

    /// Changes what the file of an identity holds. Under the lock.
    private func change<Result>(
        _ local: DeviceIdentity, _ body: (inout BondShelf) throws(BondStoreError) -> Result
    ) throws(BondStoreError) -> Result {
        let kept = try read(file(of: local.address))
        if kept == nil, try names().count >= BondLimits.identities {
            throw .full("identities", maximum: BondLimits.identities)
        }
        var shelf = kept ?? BondShelf(local)
        let result = try body(&shelf)
        if shelf != kept { try write(shelf) }
        return result
    }

    // MARK: - Files

    private func file(_ name: String) -> DurableFile {
        DurableFile(directory: directory, name: name, maximumLength: Self.maximumLength)
    }

    /// `c01122334455-random.json`: any file system allows such names.
    private func file(of address: DeviceAddress) -> DurableFile {
        let digits = String(address.value, radix: 16)
        let isRandom = address.randomKind != nil
        return file(
            String(repeating: "0", count: 12 - digits.count) + digits + (isRandom ? "-random" : "-public") + Self.suffix
        )
    }

    /// The names of the files there are.
    private func names() throws(BondStoreError) -> [String] {
        let names: [String]
        do { names = try StateDirectory.names(in: directory) } catch { throw BondStoreError(error) }
        return names.filter { name in
            guard name.hasSuffix("-public" + Self.suffix) || name.hasSuffix("-random" + Self.suffix) else {
                return false
            }
            return UInt64(name.prefix(12), radix: 16) != nil && name.utf8.count == 24
        }
    }

    private func write(_ shelf: BondShelf) throws(BondStoreError) {
        do {
            try file(of: shelf.identity.address).write(BondFile.bytes(of: BondFile(shelf)))
        } catch {
            throw BondStoreError(error)
        }
    }

    /// Reads a file. No lock is needed, since files are replaced as a whole.
    private func shelf(in file: DurableFile) throws(BondStoreError) -> BondShelf? {
        do {
            return try decoded(file)
        } catch .damaged(let path, let reason, _) {
            // Perhaps another program has just replaced it.
            return try withLock(otherwise: .damaged(path: path, reason: reason, setAside: nil)) {
                () throws(BondStoreError) in try read(file)
            }
        }
    }

    /// Reads a file, and sets it aside if it is damaged. Under the lock.
    private func read(_ file: DurableFile) throws(BondStoreError) -> BondShelf? {
        do {
            return try decoded(file)
        } catch .damaged(let path, let reason, _) {
            throw .damaged(path: path, reason: reason, setAside: file.setAside())
        }
    }

    private func decoded(_ file: DurableFile) throws(BondStoreError) -> BondShelf? {
        try checkDirectory()
        let content: DurableFile.Content?
        do throws(FileFailure) {
            content = try file.read()
        } catch {
            switch error {
            case .tooLong(let path, _), .notAFile(let path):
                throw .damaged(path: path, reason: "\(error)", setAside: nil)
            default: throw BondStoreError(error)
            }
        }
        guard let content else { return nil }
        guard content.mode & 0o077 == 0 else { throw .exposed(path: file.path, isDirectory: false) }
        do throws(BondFile.Problem) {
            let shelf = try BondFile.decode(content.bytes)
            guard self.file(of: shelf.identity.address).name == file.name else {
                throw .damaged("it is of another identity than its name says")
            }
            return shelf
        } catch {
            switch error {
            case .laterVersion: throw BondStoreError.laterVersion(path: file.path)
            case .damaged(let reason): throw BondStoreError.damaged(path: file.path, reason: reason, setAside: nil)
            }
        }
    }

    /// Whoever can write the directory can put in keys of their own.
    private func checkDirectory() throws(BondStoreError) {
        guard let mode = StateDirectory.mode(of: directory), mode & 0o022 != 0 else { return }
        throw .exposed(path: directory, isDirectory: true)
    }

    /// - Parameter failure: thrown if the lock cannot be had; nil for the reason itself.
    private func withLock<Result>(
        otherwise failure: BondStoreError? = nil, _ body: () throws(BondStoreError) -> Result
    ) throws(BondStoreError) -> Result {
        try turn.withLock { (_) throws(BondStoreError) -> Result in
            try checkDirectory()
            let lock: FileLock
            do throws(FileFailure) {
                lock = try FileLock(directory: directory, patience: patience)
            } catch {
                throw failure ?? BondStoreError(error)
            }
            defer { lock.release() }
            return try body()
        }
    }
}

extension BondStoreError {
    init(_ failure: FileFailure) {
        switch failure {
        case .system(let action, let path, let errno): self = .system(action, path: path, errno: errno)
        case .notAFile(let path): self = .damaged(path: path, reason: "\(failure)", setAside: nil)
        case .tooLong(_, let maximum): self = .full("octets in the file of an identity", maximum: maximum)
        case .busy(let path): self = .busy(path: path)
        }
    }
}
