import Foundation

/// The state directories of tested apps, which are removed afterwards.
package enum StateDirectories {
    /// Removed when the process ends, because managers write until they are deallocated, some time after the test ends.
    private static let root: URL = {
        atexit { StateDirectories.removeAll() }
        return FileManager.default.temporaryDirectory.appendingPathComponent(
            "CoreBluetoothTesting-\(ProcessInfo.processInfo.processIdentifier)", isDirectory: true)
    }()

    /// A new path. Nothing exists there yet, not even a directory.
    package static func add() -> URL {
        root.appendingPathComponent(UUID().uuidString, isDirectory: true)
    }

    private static func removeAll() { try? FileManager.default.removeItem(at: root) }
}
