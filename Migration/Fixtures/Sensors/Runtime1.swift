import Foundation

/// A lock per object, with several ways out.
final class Cache {
    private var values: [String: Data] = [:]
    private let lock = NSObject()

    func value(for key: String) -> Data? {
        objc_sync_enter(self)
        defer { objc_sync_exit(self) }
        if let value = values[key] { return value }
        return nil
    }

    func setValue(_ value: Data?, for key: String) {
        objc_sync_enter(lock)
        values[key] = value
        objc_sync_exit(lock)
    }
}
