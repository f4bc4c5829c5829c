import BluetoothATT
import BluetoothBase
import BluetoothGATT

// What a document says, for those that show or complete it.

extension DeviceDocument {
    /// The value of its Device Name characteristic (Core 5.4, Vol 3, Part C, 12.1), with U+FFFD for what is not UTF-8; nil if
    /// there is none or it was not read.
    public var deviceName: String? {
        let names = services.flatMap(\.characteristics).filter { $0.uuid == .deviceName }
        guard let octets = names.first?.value.octets, !octets.isEmpty else { return nil }
        return String(decoding: octets, as: UTF8.self)
    }

    /// Notes that descriptors cannot be written.
    ///
    /// - Parameter errors: what a write was refused with, by the handle of the descriptor.
    public mutating func refuseWrites(_ errors: [AttributeHandle: ATTErrorCode]) {
        for service in services.indices {
            for characteristic in services[service].characteristics.indices {
                for descriptor in services[service].characteristics[characteristic].descriptors.indices {
                    let handle = services[service].characteristics[characteristic].descriptors[descriptor].handle
                    guard let handle, let error = errors[handle] else { continue }
                    services[service].characteristics[characteristic].descriptors[descriptor].permissions.writeError =
                        error
                }
            }
        }
    }
}

extension DeviceDocument.Service {
    /// The handle of its last attribute, of those whose handles it names.
    public var lastHandle: AttributeHandle? {
        let parts = characteristics.flatMap { [$0.handle, $0.valueHandle] + $0.descriptors.map(\.handle) }
        return (parts + includes.map(\.handle) + [handle]).compactMap(\.self).max()
    }
}
