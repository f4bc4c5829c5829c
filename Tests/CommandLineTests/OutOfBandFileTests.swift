import ArgumentParser
import BluetoothLE
import Foundation
import Testing

@testable import BluetoothCommandLine

@Suite("Files with out-of-band data")
struct OutOfBandFileTests {
    private static func withDirectory(_ body: (String) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try body(directory.path)
    }

    @Test("A written file is readable only by its user, reads back unchanged, and is not overwritten")
    func written() throws {
        try Self.withDirectory { directory in
            let file = OutOfBandFile(path: directory + "/own.oob")
            let record = OutOfBandRecord(.secureConnections(confirm: 1, random: 2))
            try file.write(record)
            #expect(try file.read() == record)
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let failure = #expect(throws: CommandFailure.self) { try file.write(record) }
            #expect(failure.map { "\($0)".contains("exists") } == true)
        }
    }

    @Test(
        "A file without out-of-band data is refused with its name",
        arguments: ["", "11 10 00", "card", "0", "02 01 06"])
    func refused(content: String) throws {
        try Self.withDirectory { directory in
            let path = directory + "/other.oob"
            try Data(content.utf8).write(to: URL(fileURLWithPath: path))
            let failure = #expect(throws: CommandFailure.self) { try OutOfBandFile(path: path).read() }
            #expect(failure.map { "\($0)".contains(path) } == true)
        }
    }

    @Test("A missing file and a file that is too long are refused")
    func unreadable() throws {
        try Self.withDirectory { directory in
            #expect(throws: CommandFailure.self) { try OutOfBandFile(path: directory + "/none").read() }
            let path = directory + "/long.oob"
            try Data(count: 5_000).write(to: URL(fileURLWithPath: path))
            #expect(throws: CommandFailure.self) { try OutOfBandFile(path: path).read() }
        }
    }

    @Test(
        "An identity is a random static address",
        arguments: [
            ("C0:11:22:33:44:55", true), ("FF:00:00:00:00:01/R", true), ("40:11:22:33:44:55", false),
            ("00:11:22:33:44:55/P", false), ("C0:00:00:00:00:00", false), ("FF:FF:FF:FF:FF:FF", false), ("here", false),
        ])
    func identity(text: String, isOne: Bool) {
        let options = try? TransportOptions.parse(["--identity", text])
        #expect((options != nil) == isOne)
        #expect((options?.identity?.kind == .random) == isOne)
    }
}
