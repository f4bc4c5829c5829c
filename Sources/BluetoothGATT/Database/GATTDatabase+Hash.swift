import BluetoothATT
import BluetoothBase

extension GATTDatabase {
    /// Appends the data that the Database Hash is computed from: the definitions of services and characteristics,
    /// without values that belong to clients or to the application (Core 5.4, Vol 3, Part G, 7.3.1). The caller
    /// computes AES-CMAC of this data with a key of zeros.
    public func appendHashInput(into writer: inout ByteWriter) {
        for attribute in attributes {
            guard let index = index(of: attribute.handle) else { continue }
            let type = typeUUID(at: index)
            switch type {
            case .primaryService, .secondaryService, .include, .characteristic, .characteristicExtendedProperties:
                writer.append(attribute.handle)
                writer.append(type)
                writer.append(values[index])
            case .characteristicUserDescription, .clientCharacteristicConfiguration,
                .serverCharacteristicConfiguration, .characteristicPresentationFormat,
                .characteristicAggregateFormat:
                writer.append(attribute.handle)
                writer.append(type)
            default: break
            }
        }
    }
}
