// The names are those of Apple's headers.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

/// How an object keeps an associated value. On Linux, every policy except `OBJC_ASSOCIATION_ASSIGN` retains the value.
public enum objc_AssociationPolicy: UInt, Sendable {
    case OBJC_ASSOCIATION_ASSIGN = 0
    case OBJC_ASSOCIATION_RETAIN_NONATOMIC = 1
    case OBJC_ASSOCIATION_COPY_NONATOMIC = 3
    case OBJC_ASSOCIATION_RETAIN = 769
    case OBJC_ASSOCIATION_COPY = 771
}

/// The value that was associated with an object under a key.
public func objc_getAssociatedObject(_ object: Any, _ key: UnsafeRawPointer) -> Any? {
    AssociatedObjects.shared.value(of: object as AnyObject, key)
}

/// Associates a value with an object under a key. Nil removes the value.
///
/// Swift on Linux cannot observe the end of an object. A value is therefore released at the first call of this
/// function, or of `objc_getAssociatedObject`, that follows the end of its object.
public func objc_setAssociatedObject(
    _ object: Any, _ key: UnsafeRawPointer, _ value: Any?, _ policy: objc_AssociationPolicy
) {
    AssociatedObjects.shared.set(value, of: object as AnyObject, key, policy)
}

/// Removes all values that are associated with an object.
public func objc_removeAssociatedObjects(_ object: Any) {
    AssociatedObjects.shared.removeAll(of: object as AnyObject)
}

/// The values that are associated with objects.
private final class AssociatedObjects: @unchecked Sendable {
    // Unchecked: the mutex protects the table.
    private enum Value {
        case retained(Any)
        case assigned(WeakReference)
    }

    private struct WeakReference {
        weak var object: AnyObject?
    }

    private struct Entry {
        weak var owner: AnyObject?
        var values: [UnsafeRawPointer: Value] = [:]
    }

    static let shared = AssociatedObjects()
    private let mutex = NSLock()
    private var entries: [ObjectIdentifier: Entry] = [:]

    func value(of object: AnyObject, _ key: UnsafeRawPointer) -> Any? {
        let (value, ended): (Value?, [Entry]) = mutex.withLock {
            let ended = removeEnded()
            return (entries[ObjectIdentifier(object)]?.values[key], ended)
        }
        // Values that end may call these functions, so they are released without the mutex.
        withExtendedLifetime(ended) {}
        switch value {
        case .retained(let value): return value
        case .assigned(let reference): return reference.object
        case nil: return nil
        }
    }

    func set(_ value: Any?, of object: AnyObject, _ key: UnsafeRawPointer, _ policy: objc_AssociationPolicy) {
        let new: Value? = value.map {
            policy == .OBJC_ASSOCIATION_ASSIGN ? .assigned(WeakReference(object: $0 as AnyObject)) : .retained($0)
        }
        let ended: (Value?, [Entry]) = mutex.withLock {
            let ended = removeEnded()
            var entry = entries[ObjectIdentifier(object)] ?? Entry(owner: object)
            let old = entry.values.removeValue(forKey: key)
            entry.values[key] = new
            entries[ObjectIdentifier(object)] = entry.values.isEmpty ? nil : entry
            return (old, ended)
        }
        withExtendedLifetime(ended) {}
    }

    func removeAll(of object: AnyObject) {
        let ended = mutex.withLock { entries.removeValue(forKey: ObjectIdentifier(object)) }
        withExtendedLifetime(ended) {}
    }

    /// Removes the entries whose objects have ended, before another object can have the same address.
    private func removeEnded() -> [Entry] {
        let ended = entries.filter { $0.value.owner == nil }
        for identifier in ended.keys { entries[identifier] = nil }
        return Array(ended.values)
    }
}
