import Foundation
import GRDB
import GatewayPipeline

/// Messages on disk that wait for the broker, in order. They survive the end of the process, however it ends.
///
/// When the spool is full, it first drops states that a newer message with the same topic supersedes, oldest first, and
/// then the oldest messages. Dropped messages are counted, even across restarts.
///
/// Calls must not overlap.
final class Spool {
    struct Entry: Equatable {
        var id: Int64
        var publication: Publication
    }

    /// The messages dropped since the spool was created.
    struct Losses: Equatable {
        /// States that a newer one superseded.
        var superseded: Int64 = 0
        /// Messages that were the oldest.
        var oldest: Int64 = 0
    }

    /// The suffixes of the files that SQLite keeps beside the database.
    static let companions = ["-wal", "-shm", "-journal"]
    /// The suffix of a damaged file that was set aside.
    static let damagedSuffix = ".damaged"

    /// Not private, so that tests can make it fail.
    let database: DatabaseQueue
    private let maximumCount: Int
    private let maximumOctets: Int
    private(set) var count = 0
    private(set) var octets = 0
    private(set) var losses = Losses()

    /// Opens a file, or creates it. Only its owner may read it and the files beside it, because messages reveal who is
    /// at home.
    ///
    /// - Parameters:
    ///   - path: the path of the file; nil keeps messages in memory only.
    ///   - messages: the maximum number of messages.
    ///   - octets: the maximum total length of their topics and payloads, in octets.
    init(path: String?, messages: Int, octets: Int) throws {
        maximumCount = messages
        maximumOctets = octets
        var configuration = GRDB.Configuration()
        configuration.busyMode = .immediateError
        configuration.prepareDatabase { database in
            // A second process with this file would send the same messages.
            try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            // If the process ends, nothing is lost. If the machine fails, the messages not yet written are lost.
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
        }
        if let path {
            try PrivateFile.make(path)
            for suffix in Self.companions + [Self.damagedSuffix] { try PrivateFile.restrict(path + suffix) }
        }
        database = try path.map { try DatabaseQueue(path: $0, configuration: configuration) } ?? DatabaseQueue()
        try database.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS message (
                        id INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, payload BLOB NOT NULL,
                        retained INTEGER NOT NULL);
                    CREATE TABLE IF NOT EXISTS loss (kind TEXT PRIMARY KEY, number INTEGER NOT NULL);
                    """)
        }
        try measure()
    }

    private func measure() throws {
        try database.read { database in
            let row = try Row.fetchOne(
                database,
                sql: "SELECT COUNT(*), COALESCE(SUM(LENGTH(CAST(topic AS BLOB)) + LENGTH(payload)), 0) FROM message")
            count = row?[0] ?? 0
            octets = row?[1] ?? 0
            for row in try Row.fetchAll(database, sql: "SELECT kind, number FROM loss") {
                let number: Int64 = row[1]
                if row[0] == "superseded" { losses.superseded = number } else { losses.oldest = number }
            }
        }
    }

    /// Stores messages and removes delivered ones, in one disk transaction.
    func append(_ publications: [Publication], removing delivered: [Int64] = []) throws {
        guard !publications.isEmpty || !delivered.isEmpty else { return }
        // Messages that are not written do not count.
        let before = (count, octets, losses)
        do {
            try write(publications, removing: delivered)
        } catch {
            (count, octets, losses) = before
            throw error
        }
    }

    private func write(_ publications: [Publication], removing delivered: [Int64]) throws {
        try database.write { database in
            if !delivered.isEmpty {
                let delete = try database.cachedStatement(
                    sql: "DELETE FROM message WHERE id = ? RETURNING LENGTH(CAST(topic AS BLOB)) + LENGTH(payload)")
                for id in delivered {
                    guard let size = try Int.fetchOne(delete, arguments: [id]) else { continue }
                    count -= 1
                    octets -= size
                }
            }
            let insert = try database.cachedStatement(
                sql: "INSERT INTO message (topic, payload, retained) VALUES (?, ?, ?)")
            for publication in publications {
                try insert.execute(arguments: [
                    publication.topic, Data(publication.payload), publication.isRetained ? 1 : 0,
                ])
                count += 1
                octets += publication.size
            }
            if count > maximumCount || octets > maximumOctets { try giveUp(database) }
        }
    }

    /// Makes room for a twentieth of the capacity, so that the search is rarely needed.
    private func giveUp(_ database: Database) throws {
        let superseded = """
            SELECT id, LENGTH(CAST(topic AS BLOB)) + LENGTH(payload) FROM message WHERE retained = 1
            AND id NOT IN (SELECT MAX(id) FROM message GROUP BY topic) ORDER BY id
            """
        let oldest = "SELECT id, LENGTH(CAST(topic AS BLOB)) + LENGTH(payload) FROM message ORDER BY id"
        losses.superseded += try remove(superseded, database)
        losses.oldest += try remove(oldest, database)
        for (kind, number) in [("superseded", losses.superseded), ("oldest", losses.oldest)] {
            try database.execute(
                sql: "INSERT INTO loss VALUES (?, ?) ON CONFLICT (kind) DO UPDATE SET number = excluded.number",
                arguments: [kind, number])
        }
    }

    /// Removes messages that a query finds, until there is room. Returns their number.
    private func remove(_ query: String, _ database: Database) throws -> Int64 {
        let countGoal = maximumCount - maximumCount / 20, octetsGoal = maximumOctets - maximumOctets / 20
        var ids: [Int64] = []
        let rows = try Row.fetchCursor(database, sql: query)
        while count > countGoal || octets > octetsGoal, let row = try rows.next() {
            ids.append(row[0])
            count -= 1
            octets -= row[1]
        }
        for id in ids { try database.execute(sql: "DELETE FROM message WHERE id = ?", arguments: [id]) }
        return Int64(ids.count)
    }

    /// The messages after a given one, in order.
    func entries(after id: Int64, limit: Int) throws -> [Entry] {
        // A single statement is a transaction.
        try database.unsafeRead { database in
            let select = try database.cachedStatement(
                sql: "SELECT id, topic, payload, retained FROM message WHERE id > ? ORDER BY id LIMIT ?")
            return try Row.fetchAll(select, arguments: [id, limit]).map { row in
                let payload: Data = row[2]
                return Entry(
                    id: row[0],
                    publication: Publication(topic: row[1], payload: Array(payload), isRetained: row[3] == 1))
            }
        }
    }

    /// Writes everything to disk and closes the file.
    func close() { try? database.close() }
}

extension Publication {
    fileprivate var size: Int { topic.utf8.count + payload.count }
}
