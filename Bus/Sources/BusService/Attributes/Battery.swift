import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothUsers
import BusObjects
import DBus

/// The battery of a device: `org.bluez.Battery1`, at the path of the device.
final class Battery {
    /// The handle of the Battery Level.
    let handle: AttributeHandle
    private(set) var percentage: UInt8
    private let profile: Profile

    init(_ handle: AttributeHandle, _ percentage: UInt8, _ profile: Profile) {
        self.handle = handle
        self.percentage = percentage
        self.profile = profile
    }

    static let interface = Interface<Battery>(
        "org.bluez.Battery1",
        properties: [
            Property("Percentage", "y") { .byte($0.percentage) },
            Property("Source", "s") { $0.profile == .bookworm ? nil : .string("GATT Battery Service") },
        ])

    func set(_ percentage: UInt8) -> Bool {
        guard self.percentage != percentage, percentage <= 100 else { return false }
        self.percentage = percentage
        return true
    }
}

extension Device {
    /// Reads the Battery Level, and follows it, if the device has one.
    func resolveBattery() {
        guard battery == nil, let link = link.identifier,
            let service = services.first(where: { $0.information.uuid == "180F" }),
            let level = service.characteristics.first(where: { $0.information.uuid == "2A19" })
        else { return }
        let handle = level.information.valueHandle
        daemon.house.call(.perform(link, .read(handle))) { [weak self] result in
            guard let self, self.link.identifier == link, self.battery == nil,
                case .success(.gatt(.value(let octets))) = result,
                let percentage = octets.first, percentage <= 100
            else { return }
            let battery = Battery(handle, percentage, daemon.settings.profile)
            self.battery = battery
            daemon.tree.export(battery, as: Battery.interface, at: path)
            level.followForBattery()
        }
    }

    /// Takes over a level that was read or notified.
    func batteryLevel(_ octets: [UInt8], _ handle: AttributeHandle) {
        guard let battery, battery.handle == handle, let percentage = octets.first, battery.set(percentage) else {
            return
        }
        daemon.tree.changed("Percentage", of: Battery.interface.name, at: path)
    }

    func removeBattery() {
        guard battery != nil else { return }
        battery = nil
        daemon.tree.remove(Battery.interface.name, at: path)
    }
}
