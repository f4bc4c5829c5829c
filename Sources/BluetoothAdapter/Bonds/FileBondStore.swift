import BluetoothBase
import BluetoothHost
import BluetoothSMP
import Synchronization

/// Bonds on disk, in one file per local identity.
///
/// Any number of stores, in this program or others, may use one directory at the same time. To change a bond, a store
/// locks the directory, reads the file, and replaces it. If the program is killed at any point, the file has either its
/// old or its new content. `Documentation/Security.md` describes the files.
public final class FileBondStore: BondStore {
    /// The directory of the files. It is created when the first file is written.
    public let directory: String
    private let patience: Duration
    /// Serializes the threads of this program. The lock file serializes programs.
    private let turn = Mutex(())

    /// The maximum length of a file, in octets.
    static let maximumLength = 1 << 25
    private static let suffix = ".json"

    /// Creates a store in a directory.
    ///
    /// - Parameter patience: how long a call waits for another program that is changing the store.
    public init(directory: String, patience: Duration = .seconds(2)) {
        self.directory = directory
        self.patience = patience
    }

    /// Creates a store in the default directory: `bonds` in `$STATE_DIRECTORY`, which systemd sets, otherwise in
    /// `$XDG_STATE_HOME/swift-bluetooth-le` or `~/.local/state/swift-bluetooth-le`.
    ///
    /// - Throws: `.noDirectory` if the environment sets none of these.
    public convenience init() throws(BondStoreError) {
        try self.init(defaultIn: StateDirectory.path())
    }

    convenience init(defaultIn state: String?) throws(BondStoreError) {
        guard let state else { throw .noDirectory }
        self.init(directory: state + "/bonds")
    }

    // MARK: - Reading

    /// The local identities, one for each file in the directory, in the order of the file names. Empty if the directory
    /// does not exist.
    public func identities() throws(BondStoreError) -> [DeviceIdentity] { try shelves().map(\.identity) }

    /// The identity stored for a controller, otherwise the one whose address is the address of the controller; nil if
    /// neither exists. Reads every file.
    public func identity(for controller: DeviceAddress) throws(BondStoreError) -> DeviceIdentity? {
        BondShelf.ofController(controller, in: try shelves())?.identity
    }

    /// The bonds in the file of an identity, sorted by address. Empty if the identity has no file.
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

    /// Stores the identity that this device uses with a controller, and removes the controller from the files of other
    /// identities.
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

    /// Adds a bond to the file of an identity, or replaces the bond with the same peer. Creates the file if necessary.
    public func save(_ bond: Bond, of local: DeviceIdentity) throws(BondStoreError) {
        try withLock { () throws(BondStoreError) in
            try change(local) { (shelf) throws(BondStoreError) in try shelf.save(bond, of: local) }
        }
    }

    /// Removes the bond with a peer from the file of an identity. Returns false, and writes nothing, if no such bond
    /// exists.
    @discardableResult
    public func remove(_ peer: PeerID, of local: DeviceIdentity) throws(BondStoreError) -> Bool {
        guard let shelf = try shelf(in: file(of: local.address)) else { return false }
        guard try shelf.bonds(of: local).contains(where: { $0.peer == peer }) else { return false }
        return try withLock { () throws(BondStoreError) in
            try change(local) { (shelf) throws(BondStoreError) in try shelf.remove(peer, of: local) }
        }
    }

    /// Changes the content of an identity's file. Requires the lock.
    private func change<Result>(
        _ local: DeviceIdentity, _ body: (inout BondShelf) throws(BondStoreError) -> Result
    ) throws(BondStoreError) -> Result {
        let kept = try read(file(of: local.address))
        if kept == nil, try names().count >= BondLimits.identities {
            throw .full(.identities, maximum: BondLimits.identities)
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

    /// A name such as `c01122334455-random.json`, which is valid on any file system.
    private func file(of address: DeviceAddress) -> DurableFile {
        let digits = String(address.value, radix: 16)
        let isRandom = address.randomKind != nil
        return file(
            String(repeating: "0", count: 12 - digits.count) + digits + (isRandom ? "-random" : "-public") + Self.suffix
        )
    }

    /// The names of the existing files.
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

    /// Reads a file. This needs no lock, because files are replaced atomically.
    private func shelf(in file: DurableFile) throws(BondStoreError) -> BondShelf? {
        do {
            return try decoded(file)
        } catch {
            guard case .damaged(let path, let reason, _) = error.kind else { throw error }
            // Read the file again with the lock held, because another program may just have replaced it.
            return try withLock(otherwise: .damaged(path: path, reason: reason, setAside: nil)) {
                () throws(BondStoreError) in try read(file)
            }
        }
    }

    /// Reads a file, and sets it aside if it is damaged. Requires the lock.
    private func read(_ file: DurableFile) throws(BondStoreError) -> BondShelf? {
        do {
            return try decoded(file)
        } catch {
            guard case .damaged(let path, let reason, _) = error.kind else { throw error }
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
                throw .damaged("its identity does not match its name")
            }
            return shelf
        } catch {
            switch error {
            case .laterVersion: throw BondStoreError.laterVersion(path: file.path)
            case .damaged(let reason): throw BondStoreError.damaged(path: file.path, reason: reason, setAside: nil)
            }
        }
    }

    /// A user who can write to the directory could add their own keys.
    private func checkDirectory() throws(BondStoreError) {
        guard let mode = StateDirectory.mode(of: directory), mode & 0o022 != 0 else { return }
        throw .exposed(path: directory, isDirectory: true)
    }

    /// Runs `body` with the directory locked.
    ///
    /// - Parameter failure: the error to throw if the lock is unavailable; nil to throw the actual reason.
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
        case .tooLong(_, let maximum): self = .full(.fileSize, maximum: maximum)
        case .busy(let path): self = .busy(path: path)
        }
    }
}
