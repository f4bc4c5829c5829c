import Foundation

/// Where apps that are tested remember things, which nobody is to find afterwards.
package enum StateDirectories {
    /// Removed when the process ends: managers write what they have to until they are gone, some time after the test is.
    private static let root: URL = {
        atexit { StateDirectories.removeAll() }
        return FileManager.default.temporaryDirectory.appendingPathComponent(
            "CoreBluetoothTesting-\(ProcessInfo.processInfo.processIdentifier)", isDirectory: true)
    }()

    /// A place of its own. There is nothing there yet, not even a directory.
    package static func add() -> URL {
        root.appendingPathComponent(UUID().uuidString, isDirectory: true)
    }

    private static func removeAll() { try? FileManager.default.removeItem(at: root) }
}
