import Foundation

protocol BatteryObserver: class {
    func batteryDidChange(to level: Int)
}

/// Weak observers, and a closure that is locked.
final class Battery {
    private let observers = NSHashTable<AnyObject>.weakObjects()
    private let names = NSMapTable<NSString, NSNumber>.strongToStrongObjects()

    var level = 0 {
        didSet { synchronized(observers) { observers.allObjects.forEach { ($0 as? BatteryObserver)?.batteryDidChange(to: level) } } }
    }

    func add(_ observer: BatteryObserver, name: String) {
        observers.add(observer)
        names.setObject(NSNumber(value: level), forKey: name as NSString)
    }

    private func synchronized<Value>(_ lock: Any, _ body: () -> Value) -> Value {
        objc_sync_enter(lock)
        defer { objc_sync_exit(lock) }
        return body()
    }
}
