import Foundation

/// A set of objects, which are held weakly or strongly.
///
/// It has the members of Foundation's class on Apple's platforms that Swift programs use. Objects are compared by
/// identity. Objects that have ended are not in the set.
public final class NSHashTable<ObjectType: AnyObject>: NSObject {
    private var strong: [ObjectIdentifier: ObjectType] = [:]
    private var weak: [ObjectIdentifier: WeakReference<ObjectType>] = [:]
    private let isWeak: Bool

    /// Creates a set. Only `NSPointerFunctions.Options.weakMemory` has an effect.
    public init(options: NSPointerFunctions.Options, capacity: Int = 0) {
        isWeak = options.contains(.weakMemory)
    }

    /// Creates a set that does not retain its objects.
    public static func weakObjects() -> NSHashTable<ObjectType> { NSHashTable(options: .weakMemory) }

    /// The objects in the set, in no particular order.
    public var allObjects: [ObjectType] { isWeak ? weak.values.compactMap(\.object) : Array(strong.values) }

    /// The number of objects in the set.
    public var count: Int { allObjects.count }

    /// One of the objects in the set.
    public var anyObject: ObjectType? { allObjects.first }

    /// Adds an object.
    public func add(_ object: ObjectType?) {
        guard let object else { return }
        if isWeak {
            weak = weak.filter { $0.value.object != nil }
            weak[ObjectIdentifier(object)] = WeakReference(object: object)
        } else {
            strong[ObjectIdentifier(object)] = object
        }
    }

    /// Removes an object.
    public func remove(_ object: ObjectType?) {
        guard let object else { return }
        weak[ObjectIdentifier(object)] = nil
        strong[ObjectIdentifier(object)] = nil
    }

    /// Removes all objects.
    public func removeAllObjects() { (weak, strong) = ([:], [:]) }

    /// Whether the set contains an object.
    public func contains(_ object: ObjectType?) -> Bool { allObjects.contains { $0 === object } }
}

/// A dictionary whose keys and values are objects, which are held weakly or strongly.
///
/// It has the members of Foundation's class on Apple's platforms that Swift programs use. Weak keys are compared by
/// identity, and strong keys with `isEqual` if they are `NSObject`s.
public final class NSMapTable<KeyType: AnyObject, ObjectType: AnyObject>: NSObject {
    private struct Entry {
        weak var weakKey: KeyType?
        var strongKey: KeyType?
        weak var weakObject: ObjectType?
        var strongObject: ObjectType?

        var pair: (key: KeyType, object: ObjectType)? {
            guard let key = strongKey ?? weakKey, let object = strongObject ?? weakObject else { return nil }
            return (key, object)
        }
    }

    private var entries: [Entry] = []
    private let hasWeakKeys: Bool
    private let hasWeakObjects: Bool

    /// Creates a dictionary. Only `NSPointerFunctions.Options.weakMemory` has an effect.
    public init(
        keyOptions: NSPointerFunctions.Options, valueOptions: NSPointerFunctions.Options, capacity: Int = 0
    ) {
        (hasWeakKeys, hasWeakObjects) = (keyOptions.contains(.weakMemory), valueOptions.contains(.weakMemory))
    }

    /// Creates a dictionary that retains keys and values.
    public static func strongToStrongObjects() -> NSMapTable { NSMapTable(keyOptions: [], valueOptions: []) }
    /// Creates a dictionary that retains only values.
    public static func weakToStrongObjects() -> NSMapTable { NSMapTable(keyOptions: .weakMemory, valueOptions: []) }
    /// Creates a dictionary that retains only keys.
    public static func strongToWeakObjects() -> NSMapTable { NSMapTable(keyOptions: [], valueOptions: .weakMemory) }
    /// Creates a dictionary that retains neither keys nor values.
    public static func weakToWeakObjects() -> NSMapTable {
        NSMapTable(keyOptions: .weakMemory, valueOptions: .weakMemory)
    }

    /// The number of entries whose key and value exist.
    public var count: Int { entries.count { $0.pair != nil } }

    /// The value of a key.
    public func object(forKey key: KeyType?) -> ObjectType? {
        guard let key else { return nil }
        return entries.lazy.compactMap(\.pair).first { isEqual($0.key, key) }?.object
    }

    /// Sets the value of a key.
    public func setObject(_ object: ObjectType?, forKey key: KeyType?) {
        guard let object, let key else { return }
        removeObject(forKey: key)
        entries.append(
            Entry(
                weakKey: hasWeakKeys ? key : nil, strongKey: hasWeakKeys ? nil : key,
                weakObject: hasWeakObjects ? object : nil, strongObject: hasWeakObjects ? nil : object))
    }

    /// Removes a key and its value.
    public func removeObject(forKey key: KeyType?) {
        entries.removeAll { entry in
            guard let pair = entry.pair else { return true }
            return key.map { isEqual(pair.key, $0) } ?? false
        }
    }

    /// Removes all keys and values.
    public func removeAllObjects() { entries = [] }

    /// The keys.
    public func keyEnumerator() -> NSEnumerator { NSArray(array: pairs.map(\.key)).objectEnumerator() }

    /// The values.
    public func objectEnumerator() -> NSEnumerator? { NSArray(array: pairs.map(\.object)).objectEnumerator() }

    private var pairs: [(key: KeyType, object: ObjectType)] { entries.compactMap(\.pair) }

    private func isEqual(_ lhs: KeyType, _ rhs: KeyType) -> Bool {
        if lhs === rhs { return true }
        guard !hasWeakKeys, let lhs = lhs as? NSObject, let rhs = rhs as? NSObject else { return false }
        return lhs.isEqual(rhs)
    }
}

/// How `NSHashTable` and `NSMapTable` hold objects.
public enum NSPointerFunctions {
    /// The options of a collection.
    public struct Options: OptionSet, Sendable {
        /// The bits of the options, with the values that Foundation assigns on other platforms.
        public let rawValue: UInt

        /// Creates options from their bits. Only `weakMemory` has an effect.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Objects are retained.
        public static let strongMemory = Options([])
        /// Objects are not retained.
        public static let weakMemory = Options(rawValue: 5)
        /// Has no effect.
        public static let objectPersonality = Options([])
        /// Has no effect: weak objects are always compared by identity.
        public static let objectPointerPersonality = Options(rawValue: 1 << 9)
        /// Has no effect.
        public static let copyIn = Options(rawValue: 1 << 16)
    }
}

private struct WeakReference<Object: AnyObject> {
    weak var object: Object?
}
