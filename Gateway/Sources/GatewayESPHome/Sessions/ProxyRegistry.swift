import BluetoothLE
import Synchronization

/// The latest connection to each device, from any client. If a connection is ending, a client that connects to the same
/// device waits for its end, instead of being refused.
final class ProxyRegistry: Sendable {
    private let devices = Mutex<[UInt64: ProxyDevice]>([:])

    /// Registers a connection. Returns the one that must end first.
    func replace(with device: ProxyDevice) -> ProxyDevice? {
        devices.withLock { devices in
            if let earlier = devices[device.address.value], !earlier.isEnding { return nil }
            return devices.updateValue(device, forKey: device.address.value)
        }
    }

    func remove(_ device: ProxyDevice) {
        devices.withLock { devices in
            if devices[device.address.value] === device { devices[device.address.value] = nil }
        }
    }
}
