import Foundation
import GatewayPipeline
import Testing
@testable import GatewayMQTT

/// What waits for the broker, and what is given up.
@Suite struct SpoolTests {
    func publication(_ topic: String, _ text: String, isRetained: Bool = true) -> Publication {
        Publication(topic: topic, text: text, isRetained: isRetained)
    }

    func texts(_ spool: Spool, after id: Int64 = 0) throws -> [String] {
        try spool.entries(after: id, limit: 1000).map {
            "\($0.publication.topic)=\(String(decoding: $0.publication.payload, as: UTF8.self))"
        }
    }

    /// A place for a file that is gone afterwards.
    func withFile(_ body: (String) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try body(directory + "/spool.sqlite")
    }

    @Test func messagesComeInOrderAndGoWhenDelivered() throws {
        let spool = try Spool(path: nil, messages: 100, octets: 10_000)
        try spool.append([publication("a", "1"), publication("b", "2", isRetained: false), publication("a", "3")])
        let entries = try spool.entries(after: 0, limit: 2)
        #expect(entries.map(\.publication) == [publication("a", "1"), publication("b", "2", isRetained: false)])
        #expect(try texts(spool, after: entries[1].id) == ["a=3"])
        try spool.append([publication("c", "4")], removing: [entries[0].id, 99])
        #expect(try texts(spool) == ["b=2", "a=3", "c=4"])
        #expect((spool.count, spool.octets) == (3, 6))
    }

    @Test func messagesSurviveAndKeepTheirOrder() throws {
        try withFile { path in
            var spool = try Spool(path: path, messages: 100, octets: 10_000)
            try spool.append([publication("ä", "1"), publication("a", "2")])
            spool.close()
            spool = try Spool(path: path, messages: 100, octets: 10_000)
            #expect((spool.count, spool.octets) == (2, 5))
            try spool.append([publication("a", "3")])
            #expect(try texts(spool) == ["ä=1", "a=2", "a=3"])
        }
    }

    @Test func supersededStatesAreGivenUpFirst() throws {
        try withFile { path in
            var spool = try Spool(path: path, messages: 20, octets: 10_000)
            try spool.append([publication("event", "x", isRetained: false)])
            try spool.append((0..<19).map { publication($0 % 2 == 0 ? "a" : "b", "\($0)") })
            #expect(spool.losses == Spool.Losses())
            // One too many: down to 19, and of those the last of each topic and the event stay.
            try spool.append([publication("c", "y")])
            #expect(spool.losses == Spool.Losses(superseded: 2, oldest: 0))
            #expect(spool.count == 19)
            #expect(try texts(spool).prefix(3) == ["event=x", "a=2", "b=3"])
            spool.close()
            spool = try Spool(path: path, messages: 20, octets: 10_000)
            #expect(spool.losses == Spool.Losses(superseded: 2, oldest: 0))
        }
    }

    @Test func thenTheOldest() throws {
        let spool = try Spool(path: nil, messages: 100, octets: 40)
        try spool.append((0..<10).map { publication("t\($0)", "ab") })
        #expect(spool.octets == 40)
        try spool.append([publication("t", "abc")])
        #expect(spool.octets == 36)
        #expect(spool.losses == Spool.Losses(superseded: 0, oldest: 2))
        #expect(try texts(spool).first == "t2=ab")
    }

    @Test func aFileHasOneUser() throws {
        try withFile { path in
            let first = try Spool(path: path, messages: 100, octets: 10_000)
            try first.append([publication("a", "1")])
            #expect {
                _ = try Spool(path: path, messages: 100, octets: 10_000)
            } throws: { error in
                Spool.text(of: error) == "another ble-gateway is using it" && !Spool.isDamage(error)
            }
        }
    }

    /// The modes of the files in a spool's directory.
    func modes(beside path: String) throws -> [String: Int] {
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        var modes: [String: Int] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory)/\(name)")
            modes[name] = attributes[.posixPermissions] as? Int
        }
        return modes
    }

    @Test func onlyTheOwnerReadsTheFiles() throws {
        try withFile { path in
            let spool = try Spool(path: path, messages: 100, octets: 10_000)
            try spool.append([publication("a", "1")])
            let found = try modes(beside: path)
            #expect(found.keys.sorted().prefix(2) == ["spool.sqlite", "spool.sqlite-wal"])
            #expect(Set(found.values) == [0o600])
        }
    }

    @Test func filesOfEarlierVersionsAreRestricted() throws {
        try withFile { path in
            // The files of an earlier version that was killed, with messages that are in the write-ahead log alone.
            let earlier = try Spool(path: path, messages: 100, octets: 10_000)
            try earlier.append([publication("a", "1")])
            let copy = URL(fileURLWithPath: path).deletingLastPathComponent().path + "/copy"
            try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
            for suffix in ["", Spool.damagedSuffix] + Spool.companions {
                let target = "\(copy)/spool.sqlite\(suffix)"
                if FileManager.default.fileExists(atPath: path + suffix) {
                    try FileManager.default.copyItem(atPath: path + suffix, toPath: target)
                } else {
                    try Data().write(to: URL(fileURLWithPath: target))
                }
                try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: target)
            }
            let spool = try Spool(path: "\(copy)/spool.sqlite", messages: 100, octets: 10_000)
            #expect(Set(try modes(beside: "\(copy)/spool.sqlite").values) == [0o600])
            #expect(try texts(spool) == ["a=1"])
            try spool.append([publication("b", "2")])
            #expect(Set(try modes(beside: "\(copy)/spool.sqlite").values) == [0o600])
        }
    }

    @Test func aFileThatCannotBeMadeIsAFailure() {
        #expect {
            _ = try Spool(path: "/nowhere/spool.sqlite", messages: 100, octets: 10_000)
        } throws: { Spool.text(of: $0) == "No such file or directory" }
    }

    @Test func aLinkThatLeadsNowhereIsNotFollowed() throws {
        try withFile { path in
            let target = path + "-elsewhere"
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
            #expect(throws: PrivateFile.Failure.self) { try PrivateFile.make(path) }
            #expect(!FileManager.default.fileExists(atPath: target))
        }
    }

    @Test func damageIsRecognized() throws {
        try withFile { path in
            try Data(repeating: 0x41, count: 5000).write(to: URL(fileURLWithPath: path))
            #expect {
                _ = try Spool(path: path, messages: 100, octets: 10_000)
            } throws: { Spool.isDamage($0) }
        }
    }
}

@Suite struct BackoffTests {
    @Test func waitsGrowToAMinute() {
        var backoff = Backoff()
        #expect((0..<8).map { _ in backoff.wait(random: 0) } == [1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
        #expect(backoff.wait(random: 1) == .seconds(30))
    }

    @Test func onlyAConnectionThatLastsBeginsAnew() {
        var backoff = Backoff()
        for _ in 0..<6 { _ = backoff.wait(random: 0) }
        backoff.connectionLasted(.seconds(1))
        #expect(backoff.wait(random: 0) == .seconds(60))
        backoff.connectionLasted(.seconds(20))
        #expect(backoff.wait(random: 0) == .seconds(4))
        backoff.connectionLasted(.seconds(60))
        #expect(backoff.wait(random: 0) == .seconds(1))
    }

    @Test func aFailureIsSaidSeldom() {
        var log = FailureLog()
        #expect((0..<9).map { _ in log.record("x") } == [1, 2, nil, 4, nil, nil, nil, 8, nil])
        #expect(log.record("y") == 1)
        log.reset()
        #expect(log.record("y") == 1)
    }
}
