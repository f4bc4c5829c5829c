import CoreBluetooth

/// The conformance in an extension, and the subclass's method in another one.
public class Device: NSObject {
    let peripheral: CBPeripheral
    public init(_ peripheral: CBPeripheral) {
        self.peripheral = peripheral
        super.init()
        peripheral.delegate = self
    }
}

extension Device: CBPeripheralDelegate {
    public func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {}
}

public final class NamedDevice: Device {
    public private(set) var names: [String] = []
}

extension NamedDevice {
    /// Keeps each name.
    public func peripheralDidUpdateName(_ peripheral: CBPeripheral) {
        add(peripheral.name ?? "")
    }

    public override func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
        peripheral.services?.forEach { add($0.uuid.uuidString) }
    }
}

extension NamedDevice {
    func add(_ name: String) { names.append(name) }
}
