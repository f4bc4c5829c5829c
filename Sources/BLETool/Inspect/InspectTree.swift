import BluetoothATT
import BluetoothBase
import BluetoothDocuments
import BluetoothGATT
import BluetoothNumbers
import BluetoothCommandLine

/// A document as a tree for a person, in which nothing that came from the device controls the terminal.
struct InspectTree {
    private(set) var lines: [String] = []
    private let palette: Palette

    /// - Parameter link: a line about the link, if there was one.
    init(_ document: DeviceDocument, link: String? = nil, palette: Palette) {
        self.palette = palette
        if let address = document.address {
            lines.append("\(address)" + (document.name.map { "  " + quoted($0) } ?? ""))
        }
        if let link { lines.append(palette(.dim, link)) }
        for service in document.services { add(service) }
    }

    private mutating func add(_ service: DeviceDocument.Service) {
        let kind = service.isPrimary ? "service" : "secondary service"
        let end = service.endHandle ?? service.lastHandle
        let range = Self.text(service.handle) + (end == service.handle ? "" : "–" + Self.text(end))
        lines.append(
            "\(palette(.dim, range))  \(kind) "
                + title(
                    service.uuid,
                    AssignedNumbers.name(ofService: service.uuid)
                        ?? AssignedNumbers.name(ofMember: service.uuid)))
        for include in service.includes {
            guard case .handle(let handle) = include.target else { continue }
            lines.append("  \(palette(.dim, Self.text(include.handle)))  includes the service at \(handle)")
        }
        for characteristic in service.characteristics { add(characteristic) }
    }

    private mutating func add(_ characteristic: DeviceDocument.Characteristic) {
        let properties = characteristic.properties.words
        lines.append(
            "  \(palette(.dim, Self.text(characteristic.valueHandle)))  "
                + title(characteristic.uuid, AssignedNumbers.name(ofCharacteristic: characteristic.uuid))
                + (properties.isEmpty ? "" : "  \(properties)"))
        if characteristic.properties.contains(.read) {
            lines.append(
                "      "
                    + ValueText.text(characteristic.value.octets, of: characteristic.uuid, characteristic.permissions))
        }
        for descriptor in characteristic.descriptors {
            var line =
                "    \(palette(.dim, Self.text(descriptor.handle)))  "
                + title(descriptor.uuid, AssignedNumbers.name(ofDescriptor: descriptor.uuid))
            if descriptor.uuid != .clientCharacteristicConfiguration {
                line += "  " + ValueText.text(descriptor.value.octets, of: descriptor.uuid, descriptor.permissions)
            }
            lines.append(line)
        }
    }

    private func title(_ uuid: BluetoothUUID, _ name: String?) -> String {
        name.map { "\(palette(.bold, $0)) (\(uuid))" } ?? palette(.bold, "\(uuid)")
    }

    private static func text(_ handle: AttributeHandle?) -> String { handle.map { "\($0)" } ?? "?" }
}

extension GATTCharacteristicProperties {
    /// The properties in words.
    fileprivate var words: String {
        let all: [(Self, String)] = [
            (.broadcast, "broadcast"), (.read, "read"), (.writeWithoutResponse, "write without response"),
            (.write, "write"), (.notify, "notify"), (.indicate, "indicate"),
            (.authenticatedSignedWrites, "signed write"), (.extendedProperties, "extended properties"),
        ]
        return all.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}
