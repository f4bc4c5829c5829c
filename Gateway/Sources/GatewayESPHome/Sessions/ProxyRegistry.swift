import BluetoothLE
import Synchronization

/// The last connection to each device, whichever client's it is. A client that comes back, or another one, waits for the end of
/// a connection that is ending, instead of being refused because of it.
final class ProxyRegistry: Sendable {
    private let devices = Mutex<[UInt64: ProxyDevice]>([:])

    /// Enters a connection. Returns the one that has to end first.
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
