import Foundation
import Synchronization

/// The delegate of a central manager, for consecutive discoveries. Loading the weak reference for each of them would
/// take a sixth of a manager's instructions per discovery.
///
/// In the application's callbacks, it works like a weak reference: a delegate that the application replaces there, or
/// no longer holds, is not called again.
struct HeldDelegate: ~Copyable {
    private var delegate: (any CBCentralManagerDelegate)?
    /// The value of `delegateChanges` before the delegate was loaded.
    private var change: Int
    /// Whether `delegateChanges` counts every change. A subclass may override `delegate`.
    private let hasCount: Bool

    init(of manager: CBCentralManager) {
        hasCount = type(of: manager) == CBCentralManager.self
        change = manager.delegateChanges.load(ordering: .acquiring)
        delegate = manager.delegate
    }

    /// Applies the application's changes since the last call.
    mutating func update(from manager: CBCentralManager) {
        if hasCount, change == manager.delegateChanges.load(ordering: .acquiring) {
            guard var held = delegate.take() else { return }
            if !Self.isLastReference(&held) { return delegate = held }
        }
        // Released first: its deinitializer may set another delegate.
        delegate = nil
        self = HeldDelegate(of: manager)
    }

    /// Whether the application no longer holds the delegate.
    private static func isLastReference(_ delegate: inout any CBCentralManagerDelegate) -> Bool {
        // As a generic argument, the delegate would be copied. In memory, it begins with the reference to its object.
        withUnsafeMutableBytes(of: &delegate) { memory in
            guard let object = memory.baseAddress?.assumingMemoryBound(to: AnyObject.self) else { return false }
            return isKnownUniquelyReferenced(&object.pointee)
        }
    }

    func tell(
        _ manager: CBCentralManager, _ peripheral: CBPeripheral, _ advertisement: [String: Any], _ rssi: NSNumber
    ) {
        delegate?.centralManager(
            manager, didDiscover: peripheral, advertisementData: advertisement, rssi: rssi)
    }
}
