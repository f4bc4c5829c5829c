import BluetoothBase
import BluetoothHost
import BluetoothSMP
import HCITransport

/// Reads the bonds that BlueZ made on this machine, for a program that takes over its adapter.
public enum BlueZStorage {
    /// The bonds that were found.
    public struct Content: Equatable, Sendable {
        /// The identities of the adapters, each with its bonds.
        public var adapters: [(identity: DeviceIdentity, bonds: [Bond])] = []
        /// One line for each device whose bond cannot be imported, with the reason. No line contains a key.
        public var problems: [String] = []

        /// Whether both have the same problems and the same identities with the same bonds, each in the same order.
        public static func == (one: Self, other: Self) -> Bool {
            one.problems == other.problems && one.adapters.elementsEqual(other.adapters, by: ==)
        }
    }

    /// The maximum length of a BlueZ file. Longer files are not read.
    static let maximumLength = 1 << 18

    /// Reads the bonds of all adapters, or of one.
    ///
    /// - Parameter directory: `/var/lib/bluetooth` or a copy of it, or the directory of one adapter in it. Reading
    ///   `/var/lib/bluetooth` requires root privileges.
    /// - Throws: `.system` if the directory cannot be read.
    public static func read(_ directory: String) throws(BondStoreError) -> Content {
        var directory = directory
        while directory.count > 1, directory.hasSuffix("/") { directory.removeLast() }
        guard StateDirectory.mode(of: directory) != nil else {
            throw .system("read", path: directory, errno: Errno.last.code)
        }
        var content = Content()
        let own = directory.split(separator: "/").last.map(String.init) ?? ""
        if address(own) != nil {
            try readAdapter(directory, own, into: &content)
            return content
        }
        for name in try names(in: directory) where address(name) != nil {
            try readAdapter(directory + "/" + name, name, into: &content)
        }
        return content
    }

    private static func readAdapter(
        _ directory: String, _ name: String, into content: inout Content
    ) throws(BondStoreError) {
        guard let value = address(name) else { return }
        // Most adapters have a public address. Only later versions of BlueZ store the address type.
        let settings = try keyFile(directory, "settings")
        let isStatic = settings?.text("AddressType", in: "General") == "static"
        // Without privacy, BlueZ neither generates nor distributes a key.
        let key = try keyFile(directory, "identity")?.key("IdentityResolvingKey", in: "General") ?? 0
        let identity = DeviceIdentity(
            address: DeviceAddress(value, kind: isStatic ? .random : .public), resolvingKey: key)
        var bonds: [Bond] = []
        for device in try names(in: directory) {
            guard let value = address(device), let info = try keyFile(directory + "/" + device, "info") else {
                continue
            }
            do throws(BlueZDevice.Problem) {
                let bond = try BlueZDevice(value, info).bond
                guard bonds.count < BondLimits.bonds else { throw .init("there are already \(BondLimits.bonds) bonds") }
                bonds.append(bond)
            } catch {
                content.problems.append("\(name)/\(device): \(error.reason)")
            }
        }
        content.adapters.append((identity, bonds))
    }

    private static func names(in directory: String) throws(BondStoreError) -> [String] {
        do { return try StateDirectory.names(in: directory) } catch { throw BondStoreError(error) }
    }

    /// - Returns: nil if there is no such file.
    private static func keyFile(_ directory: String, _ name: String) throws(BondStoreError) -> KeyFile? {
        do {
            let file = DurableFile(directory: directory, name: name, maximumLength: maximumLength)
            return try file.read().map { KeyFile(String(decoding: $0.bytes, as: UTF8.self)) }
        } catch {
            throw BondStoreError(error)
        }
    }

    /// The 48 bits of the address that a directory is named after.
    private static func address(_ name: String) -> UInt64? {
        name.utf8.count == 17 ? DeviceAddress(name)?.value : nil
    }
}
