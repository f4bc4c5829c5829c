import BluetoothATT
import BluetoothBase
import BluetoothDocuments
import BluetoothGATT
import BluetoothNumbers
import BluetoothCommandLine

/// A document as a tree for users. No text from the device can control the terminal.
struct InspectTree {
    private(set) var lines: [String] = []
    private let palette: Palette
    /// The width to which values are wrapped; nil disables wrapping.
    private let columns: Int?

    /// - Parameters:
    ///   - link: a line about the link, if there was one.
    ///   - columns: the width of the terminal; nil keeps each value on one line.
    init(_ document: DeviceDocument, link: String? = nil, palette: Palette, columns: Int? = nil) {
        self.palette = palette
        self.columns = columns
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
            add(
                ValueText.text(characteristic.value.octets, of: characteristic.uuid, characteristic.permissions),
                indentation: 6)
        }
        for descriptor in characteristic.descriptors {
            let handle = Self.text(descriptor.handle), name = AssignedNumbers.name(ofDescriptor: descriptor.uuid)
            let line = "    \(palette(.dim, handle))  " + title(descriptor.uuid, name)
            guard descriptor.uuid != .clientCharacteristicConfiguration else {
                lines.append(line)
                continue
            }
            let value = ValueText.text(descriptor.value.octets, of: descriptor.uuid, descriptor.permissions)
            let plain = "    \(handle)  " + title(descriptor.uuid, name, Palette(isColoured: false))
            if let columns, CellText.width(of: plain) + 2 + CellText.width(of: value) > columns {
                lines.append(line)
                add(value, indentation: 8)
            } else {
                lines.append(line + "  " + value)
            }
        }
    }

    /// Adds a value, on several lines if necessary.
    private mutating func add(_ value: String, indentation: Int) {
        let parts = columns.map { CellText.wrapped(value, to: max(20, $0 - indentation)) } ?? [value]
        lines += parts.map { String(repeating: " ", count: indentation) + $0 }
    }

    private func title(_ uuid: BluetoothUUID, _ name: String?, _ palette: Palette? = nil) -> String {
        let palette = palette ?? self.palette
        return name.map { "\(palette(.bold, $0)) (\(uuid))" } ?? palette(.bold, "\(uuid)")
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
