import BluetoothATT
import BluetoothBase

extension GATTDatabase {
    /// Appends what the Database Hash is computed from, by AES-CMAC with a key of zeros: the definitions of services
    /// and characteristics, without the values that belong to clients and the application (Core 5.4, Vol 3, Part G,
    /// 7.3.1). The caller computes the cipher.
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
