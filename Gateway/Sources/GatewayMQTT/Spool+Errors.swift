import Foundation
import GRDB
import GatewayConfiguration
import Logging

extension Spool {
    /// Opens the file named in a sink's options. A damaged file is set aside.
    ///
    /// - Throws: an error if the file cannot be used.
    convenience init(_ options: MQTTSink.Options) throws {
        let limits = options.spool
        do {
            try self.init(path: options.spoolPath, messages: limits.messages, octets: limits.octets)
        } catch {
            guard let path = options.spoolPath, Spool.isDamage(error) else {
                let path = options.spoolPath ?? "memory"
                throw BrokerFailure(
                    "cannot use the file for stored messages, \(path): \(Spool.text(of: error))")
            }
            let aside = path + Spool.damagedSuffix
            try? FileManager.default.removeItem(atPath: aside)
            try FileManager.default.moveItem(atPath: path, toPath: aside)
            for suffix in Spool.companions { try? FileManager.default.removeItem(atPath: path + suffix) }
            options.logger.error("\(path) is damaged: it was moved to \(aside), and messages are stored in a new file")
            try self.init(path: path, messages: limits.messages, octets: limits.octets)
        }
    }

    /// Whether an error means that a file is not a database, or is corrupt.
    static func isDamage(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return error.resultCode == .SQLITE_NOTADB || error.resultCode == .SQLITE_CORRUPT
    }

    /// The text to report for an error.
    static func text(of error: any Error) -> String {
        guard let error = error as? DatabaseError else { return "\(error)" }
        if error.resultCode == .SQLITE_BUSY { return "another ble-gateway is using it" }
        return error.message ?? "\(error.resultCode)"
    }
}
