import ArgumentParser
import BluetoothAdapter
import BluetoothHost
import BluetoothLE
import BluetoothPlatform
import BluetoothSMP
import FoundationEssentials
import Testing

@testable import BluetoothCommandLine
@testable import ble

/// `ble bonds`.
struct BondTests {
    private static let key: UInt128 = 0x0123_4567_89AB_CDEF_1133_5577_99BB_DDFF
    private static let local = DeviceIdentity(
        address: DeviceAddress(0x001B_DC00_0001, kind: .public), resolvingKey: key)
    private static let other = DeviceIdentity(address: DeviceAddress(0xC0FF_EE00_0001, kind: .random), resolvingKey: 0)

    private static let bond = Bond(
        peer: PeerID(DeviceAddress(0xC000_0000_0001, kind: .random)),
        address: DeviceAddress(0xC000_0000_0001, kind: .random),
        identity: DeviceIdentity(address: DeviceAddress(0xC000_0000_0001, kind: .random), resolvingKey: key),
        centralKey: LongTermKey(key: key), peripheralKey: LongTermKey(key: key),
        strength: KeyStrength(model: .numericComparison, usesSecureConnections: true, keySize: 16))
    private static let plain = Bond(
        peer: PeerID(DeviceAddress(2, kind: .public)), address: DeviceAddress(2, kind: .public),
        peripheralKey: LongTermKey(key: key),
        strength: KeyStrength(model: .justWorks, usesSecureConnections: false, keySize: 7))

    private let directory = URL.temporaryDirectory.appending(path: "bonds-\(UUID().uuidString)").path()
    private var store: FileBondStore { FileBondStore(directory: directory + "/store") }

    private func run(_ arguments: String...) async throws {
        var command = try #require(
            try BLE.parseAsRoot(["bonds"] + arguments + ["--bonds", store.directory]) as? any AsyncParsableCommand)
        try await command.run()
    }

    private func failure(_ arguments: String...) async throws -> CommandFailure {
        var command = try #require(
            try BLE.parseAsRoot(["bonds"] + arguments + ["--bonds", store.directory]) as? any AsyncParsableCommand)
        do { try await command.run() } catch { return BLE.failure(of: error) }
        return CommandFailure(.success, nil)
    }

    @Test("Each bond is printed on one line, without keys")
    func table() {
        #expect(
            BondLines.table([(Self.local, [Self.plain, Self.bond]), (Self.other, [])]) == [
                "adapter 00:1B:DC:00:00:01/P, a key for private addresses, bonds: 2",
                "  00:00:00:00:00:02/P  no identity  just works, unauthenticated  legacy pairing         7 octets   "
                    + "as peripheral",
                "  C0:00:00:00:00:01    identity     numeric comparison           LE Secure Connections  16 octets  "
                    + "as central or peripheral",
                "adapter C0:FF:EE:00:00:01, no key for private addresses, bonds: 0",
            ])
    }

    @Test("Each bond is printed as a JSON object, without keys")
    func objects() {
        #expect(
            BondLines.objects([(Self.local, [Self.plain, Self.bond]), (Self.other, [])]) == [
                #"{"adapter":"00:1B:DC:00:00:01/P","address":"00:00:00:00:00:02/P","identity":false,"#
                    + #""model":"just works","authenticated":false,"secureConnections":false,"keySize":7,"#
                    + #""roles":["peripheral"]}"#,
                #"{"adapter":"00:1B:DC:00:00:01/P","address":"C0:00:00:00:00:01","identity":true,"#
                    + #""model":"numeric comparison","authenticated":true,"secureConnections":true,"keySize":16,"#
                    + #""roles":["central","peripheral"]}"#,
            ])
    }

    @Test("A file that is too long to import is not read")
    func tooLong() async throws {
        let path = directory + ".json"
        let descriptor = open(path, O_CREAT | O_WRONLY, 0o600)
        // A sparse file, which uses no space on the disk.
        #expect(ftruncate(descriptor, off_t(Bonds.longestArchive) + 1) == 0)
        close(descriptor)
        defer { unlink(path) }
        let failure = try await failure("import", path)
        #expect(failure.status == .usage)
        #expect(
            failure.message
                == "\(path): longer than the 16777216 octets allowed; import a file that ble bonds export wrote, or a "
                + "directory of BlueZ")
    }

    @Test("A bond is removed by its address")
    func remove() async throws {
        try store.save(Self.bond, of: Self.local)
        try store.save(Self.plain, of: Self.local)
        try await run("list")
        try await run("remove", "C0:00:00:00:00:01")
        #expect(try store.bonds(of: Self.local) == [Self.plain])
        let failure = try await failure("remove", "C0:00:00:00:00:01")
        #expect(
            failure
                == CommandFailure(
                    .failure, "there is no bond with C0:00:00:00:00:01; ble bonds list shows all bonds"))
        try store.save(Self.plain, of: Self.other)
        let choice = try await self.failure("remove", "00:00:00:00:00:02/P")
        #expect(choice.status == .usage)
        #expect(choice.message?.contains("--adapter: 00:1B:DC:00:00:01/P, C0:FF:EE:00:00:01") == true)
        try await run("remove", "00:00:00:00:00:02/P", "--adapter", "C0:FF:EE:00:00:01")
        #expect(try store.bonds(of: Self.local) == [Self.plain])
        #expect(try store.bonds(of: Self.other) == [])
    }

    @Test("Exported bonds can be imported, and no file is overwritten")
    func archive() async throws {
        try store.save(Self.bond, of: Self.local)
        try store.save(Self.plain, of: Self.other)
        let file = directory + "/archive"
        try await run("export", file)
        var status = stat()
        #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(
            try await failure("export", file)
                == CommandFailure(.failure, "\(file) already exists; remove it, or choose another file"))

        try store.remove(Self.bond.peer, of: Self.local)
        try await run("import", file)
        #expect(try store.bonds(of: Self.local) == [Self.bond])
        #expect(try store.bonds(of: Self.other) == [Self.plain])
        // All are there by now.
        #expect(try await failure("import", file).message == "there is no bond to import in \(file)")
    }

    @Test("Bonds of BlueZ are imported, and existing bonds are kept")
    func blueZ() async throws {
        let device = directory + "/bluez/00:1B:DC:00:00:01/C0:00:00:00:00:01"
        try FileManager.default.createDirectory(atPath: device, withIntermediateDirectories: true)
        let info = """
            [General]
            AddressType=static
            [LongTermKey]
            Key=0941BDE2BB0A13F60D7E48232CDCFAD7
            Authenticated=0
            EncSize=16
            EDiv=1
            Rand=2
            """
        try Data(info.utf8).write(to: URL(filePath: device + "/info"))
        try await run("import", directory + "/bluez")
        let identity = DeviceIdentity(address: Self.local.address, resolvingKey: 0)
        let bonds = try store.bonds(of: identity)
        #expect(bonds.map(\.centralKey?.encryptedDiversifier) == [1])
        try Data(info.replacing("EDiv=1", with: "EDiv=9").utf8).write(to: URL(filePath: device + "/info"))
        #expect(try await failure("import", directory + "/bluez").status == .failure)
        #expect(try store.bonds(of: identity) == bonds)
    }

    @Test("An error message is one line", arguments: [["export"], ["import", "/nonexistent"]])
    func failures(arguments: [String]) async throws {
        let failure = try await failure(
            arguments[0], arguments.count > 1 ? arguments[1] : directory + "/none")
        #expect([.failure, .usage].contains(failure.status))
        #expect(failure.message?.contains("\n") == false)
    }
}
