import BluetoothATT
import BluetoothBase
import BluetoothGATT

// Accessors for code that shows or completes a document.

extension DeviceDocument {
    /// The value of the Device Name characteristic (Core 5.4, Vol 3, Part C, 12.1), with invalid UTF-8 replaced by
    /// U+FFFD. Nil if the document has no such characteristic, or if its value was not read.
    public var deviceName: String? {
        let names = services.flatMap(\.characteristics).filter { $0.uuid == .deviceName }
        guard let octets = names.first?.value.octets, !octets.isEmpty else { return nil }
        return String(decoding: octets, as: UTF8.self)
    }

    /// Records that descriptors can't be written.
    ///
    /// - Parameter errors: the errors with which writes were rejected, by the handle of the descriptor.
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
    /// The highest handle that the document specifies for an attribute of the service; nil if it specifies none.
    public var lastHandle: AttributeHandle? {
        let parts = characteristics.flatMap { [$0.handle, $0.valueHandle] + $0.descriptors.map(\.handle) }
        return (parts + includes.map(\.handle) + [handle]).compactMap(\.self).max()
    }
}
