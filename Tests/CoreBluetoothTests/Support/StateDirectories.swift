import Foundation

/// The state directories of stages, which are removed afterwards.
enum StateDirectories {
    /// Removed when the process ends, because managers write until they are deallocated, some time after the test ends.
    private static let root: URL = {
        atexit { StateDirectories.removeAll() }
        return FileManager.default.temporaryDirectory.appendingPathComponent(
            "CoreBluetoothTests-\(ProcessInfo.processInfo.processIdentifier)", isDirectory: true)
    }()

    /// A new path. Nothing exists there yet, not even a directory.
    static func add() -> URL {
        root.appendingPathComponent(UUID().uuidString, isDirectory: true)
    }

    private static func removeAll() { try? FileManager.default.removeItem(at: root) }
}
