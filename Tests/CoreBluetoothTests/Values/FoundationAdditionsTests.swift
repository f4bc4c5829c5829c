import CoreBluetooth
import Synchronization
import Testing

/// An object for its lock. It has no state, so that threads may share it.
private final class SharedObject: NSObject, Sendable {}

/// The parts of Foundation and of the Objective-C runtime that apps use, and that Linux lacks.
@Suite("Additions to Foundation")
struct FoundationAdditionsTests {
    @Test
    func `A thread waits for the lock of an object that another thread holds`() {
        let object = SharedObject()
        let counter = Counter()
        #expect(objc_sync_enter(object) == OBJC_SYNC_SUCCESS)
        // The lock is recursive.
        #expect(objc_sync_enter(object) == OBJC_SYNC_SUCCESS)
        #expect(objc_sync_exit(object) == OBJC_SYNC_SUCCESS)
        let group = DispatchGroup()
        DispatchQueue.global().async(group: group) {
            objc_sync_enter(object)
            counter.value.add(1, ordering: .relaxed)
            objc_sync_exit(object)
        }
        #expect(counter.value.load(ordering: .relaxed) == 0)
        objc_sync_exit(object)
        group.wait()
        #expect(counter.value.load(ordering: .relaxed) == 1)
        #expect(objc_sync_exit(object) == OBJC_SYNC_NOT_OWNING_THREAD_ERROR)
    }

    @Test
    func `Associated values live as long as their object`() {
        var (key, other): (UInt8, UInt8) = (0, 0)
        weak var released: NSObject?
        do {
            let object = NSObject()
            let value = NSObject()
            released = value
            objc_setAssociatedObject(object, &key, value, .OBJC_ASSOCIATION_RETAIN_NONATOMIC)
            objc_setAssociatedObject(object, &other, "text", .OBJC_ASSOCIATION_COPY)
            #expect(objc_getAssociatedObject(object, &key) as? NSObject === value)
            #expect(objc_getAssociatedObject(object, &other) as? String == "text")
            objc_setAssociatedObject(object, &other, nil, .OBJC_ASSOCIATION_COPY)
            #expect(objc_getAssociatedObject(object, &other) == nil)
        }
        // The next call releases what belonged to objects that have ended.
        #expect(objc_getAssociatedObject(NSObject(), &key) == nil)
        #expect(released == nil)
    }

    @Test
    func `Assigned values are not retained`() {
        var key: UInt8 = 0
        let object = NSObject()
        var value: NSObject? = NSObject()
        objc_setAssociatedObject(object, &key, value, .OBJC_ASSOCIATION_ASSIGN)
        #expect(objc_getAssociatedObject(object, &key) as? NSObject === value)
        value = nil
        #expect(objc_getAssociatedObject(object, &key) == nil)
        objc_removeAssociatedObjects(object)
    }

    @Test
    func `A weak hash table loses objects that have ended`() {
        let table = NSHashTable<NSObject>.weakObjects()
        let kept = NSObject()
        do {
            let other = NSObject()
            table.add(kept)
            table.add(kept)
            table.add(other)
            #expect(table.count == 2)
        }
        #expect(table.allObjects == [kept])
        #expect(table.contains(kept))
        table.remove(kept)
        #expect(table.anyObject == nil)
    }

    @Test
    func `A map table compares strong keys by value and weak keys by identity`() {
        let strong = NSMapTable<NSString, NSNumber>.strongToStrongObjects()
        strong.setObject(1, forKey: NSString(string: "a"))
        strong.setObject(2, forKey: NSString(string: "a"))
        #expect(strong.object(forKey: NSString(string: "a")) == 2)
        #expect(strong.count == 1)
        let weak = NSMapTable<NSObject, NSNumber>.weakToStrongObjects()
        let key = NSObject()
        weak.setObject(3, forKey: key)
        do { weak.setObject(4, forKey: NSObject()) }
        #expect(weak.object(forKey: key) == 3)
        #expect(weak.count == 1)
        weak.removeObject(forKey: key)
        #expect(weak.count == 0)
    }

    @Test
    func `A timer passes its value to its block`() {
        let received = Mutex<[String]>([])
        let timer = Timer.timer(timeInterval: 0, userInfo: "value", repeats: false) { timer in
            received.withLock { $0.append(timer.userInfo as? String ?? "none") }
        }
        timer.fire()
        #expect(received.withLock { $0 } == ["value"])
    }

    @Test
    func `A timer with a value fires first after its interval`() {
        let timer = Timer.timer(timeInterval: 3600, userInfo: nil, repeats: false) { _ in }
        #expect(timer.fireDate.timeIntervalSinceNow > 1800)
    }

    @Test
    func `Times have distances`() {
        let time = DispatchTime(uptimeNanoseconds: 5_000_000_000)
        #expect(time.distance(to: time.advanced(by: .seconds(2))) == .nanoseconds(2_000_000_000))
        #expect(time.advanced(by: .seconds(1)).distance(to: time) == .nanoseconds(-1_000_000_000))
    }

    @Test
    func `Lists and amounts are formatted`() {
        #expect(ListFormatter.localizedString(byJoining: ["a"]) == "a")
        #expect(ListFormatter().string(from: [1]) == "1")
        let size = Measurement(value: 2, unit: UnitInformationStorage.kilobytes)
        #expect(size.formatted(.byteCount(style: .file)) == Int64(2000).formatted(.byteCount(style: .file)))
    }

    @Test
    func `A random buffer is filled`() {
        var bytes = [UInt8](repeating: 0, count: 64)
        #expect(SecRandomCopyBytes(kSecRandomDefault, bytes.count, &bytes) == errSecSuccess)
        #expect(bytes.contains { $0 != 0 })
    }

    @Test
    func `An observer of a chain sees a new object and its changes`() {
        let holder = Holder()
        let (first, second) = (Level(), Level())
        let values = Mutex<[Int?]>([])
        let observation = holder.observe(\.level?.value, through: { [$0.level] }, options: [.new]) { _, change in
            values.withLock { $0.append(change.newValue ?? nil) }
        }
        holder.level = first
        first.value = 1
        holder.level = second
        second.value = 2
        // The first object is not part of the chain any more.
        first.value = 3
        holder.level = nil
        #expect(values.withLock { $0 } == [0, 1, 0, 2, nil])
        observation.invalidate()
    }
}

private final class Counter: Sendable {
    let value = Atomic(0)
}

private final class Level: NSObject, KeyValueObservable {
    let _observers = KeyValueObservers()
    var value = 0 { didSet { _observers.changed() } }
}

private final class Holder: NSObject, KeyValueObservable {
    let _observers = KeyValueObservers()
    var level: Level? { didSet { _observers.changed() } }
}
