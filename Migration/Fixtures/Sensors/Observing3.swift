import CoreBluetooth

/// A subclass of a class that can be observed, and an object two steps away.
final class Fridge: Thermometer {
    @objc dynamic var peripheral: CBPeripheral?
    var observation: NSKeyValueObservation?

    func watch() {
        observation = self.observe(\.peripheral?.state, changeHandler: { fridge, _ in fridge.celsius -= 1 })
    }

    deinit { observation?.invalidate() }
}
