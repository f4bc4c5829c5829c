// The names are those of Apple's headers.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

/// The result of `objc_sync_enter` and `objc_sync_exit` if they succeed.
public let OBJC_SYNC_SUCCESS: Int32 = 0
/// The result of `objc_sync_exit` if no thread has entered the object.
public let OBJC_SYNC_NOT_OWNING_THREAD_ERROR: Int32 = -1

/// Acquires the recursive lock that belongs to an object.
///
/// Swift on Linux has no Objective-C runtime, which provides this function on Apple's platforms.
@discardableResult
public func objc_sync_enter(_ object: Any?) -> Int32 {
    guard let object else { return OBJC_SYNC_SUCCESS }
    ObjectLocks.shared.enter(ObjectIdentifier(object as AnyObject))
    return OBJC_SYNC_SUCCESS
}

/// Releases the recursive lock that belongs to an object.
@discardableResult
public func objc_sync_exit(_ object: Any?) -> Int32 {
    guard let object else { return OBJC_SYNC_SUCCESS }
    let isHeld = ObjectLocks.shared.exit(ObjectIdentifier(object as AnyObject))
    return isHeld ? OBJC_SYNC_SUCCESS : OBJC_SYNC_NOT_OWNING_THREAD_ERROR
}

/// The locks of all objects that a thread holds or waits for.
private final class ObjectLocks: @unchecked Sendable {
    // Unchecked: the mutex protects the table.
    private struct Entry {
        let lock = NSRecursiveLock()
        /// How many calls of `enter` have no `exit` yet.
        var users = 0
    }

    static let shared = ObjectLocks()
    private let mutex = NSLock()
    private var entries: [ObjectIdentifier: Entry] = [:]

    func enter(_ object: ObjectIdentifier) {
        let lock = mutex.withLock {
            entries[object, default: Entry()].users += 1
            return entries[object, default: Entry()].lock
        }
        lock.lock()
    }

    func exit(_ object: ObjectIdentifier) -> Bool {
        let lock: NSRecursiveLock? = mutex.withLock {
            guard var entry = entries[object] else { return nil }
            entry.users -= 1
            entries[object] = entry.users == 0 ? nil : entry
            return entry.lock
        }
        lock?.unlock()
        return lock != nil
    }
}
