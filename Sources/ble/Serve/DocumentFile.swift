import BluetoothDocuments
import BluetoothCommandLine

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads and writes documents in files.
enum DocumentFile {
    /// - Throws: a usage failure with the file, the location in it, and what is expected there.
    static func read(_ path: String) async throws(CommandFailure) -> DeviceDocument {
        let text = try await contents(of: path)
        do throws(DocumentError) {
            return try DeviceDocument(json: text)
        } catch {
            throw CommandFailure(.usage, "\(path): \(error)")
        }
    }

    /// Reads a list of notifications.
    static func readNotifications(_ path: String) async throws(CommandFailure) -> [DeviceDocument.Notification] {
        let text = try await contents(of: path)
        do throws(DocumentError) {
            return try DeviceDocument.notifications(json: text)
        } catch {
            throw CommandFailure(.usage, "\(path): \(error)")
        }
    }

    private static func contents(of path: String) async throws(CommandFailure) -> [UInt8] {
        try await runInterruptibly { () throws(CommandFailure) in
            try InputFile.contents(of: path, maximumSize: DeviceDocument.maximumSize)
        }
    }

    /// Replaces a file atomically.
    static func write(_ document: DeviceDocument, to path: String) throws(CommandFailure) {
        do {
            try Data(document.json.utf8).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw CommandFailure(.failure, "\(path): cannot be written; check its folder")
        }
    }
}
