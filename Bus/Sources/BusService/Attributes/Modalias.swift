import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothUsers
import DBus

/// The vendor, product and version of a device: `Device1.Modalias`.
enum Modalias {
    /// The text for a PnP ID, in the form of the kernel's module aliases; nil if the PnP ID is malformed.
    static func text(_ octets: [UInt8]) -> String? {
        guard octets.count >= 7 else { return nil }
        let source: String
        switch octets[0] {
        case 1: source = "bluetooth"
        case 2: source = "usb"
        default: return nil
        }
        func number(at index: Int) -> String {
            (TextForm.octet(octets[index + 1]) + TextForm.octet(octets[index])).uppercased()
        }
        return "\(source):v\(number(at: 1))p\(number(at: 3))d\(number(at: 5))"
    }
}

extension Device {
    /// Reads the PnP ID, if the device has one.
    func resolveProduct() {
        guard let link = link.identifier,
            let service = services.first(where: { $0.information.uuid == "180A" }),
            let product = service.characteristics.first(where: { $0.information.uuid == "2A50" })
        else { return }
        daemon.house.call(.perform(link, .read(product.information.valueHandle))) { [weak self] result in
            guard let self, case .success(.gatt(.value(let octets))) = result, let modalias = Modalias.text(octets)
            else { return }
            productRead(modalias)
        }
    }
}
