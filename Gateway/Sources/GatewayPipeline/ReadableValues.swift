import BluetoothBase
import BluetoothValues

/// Characteristics whose values, read from a device, become part of its state.
public enum ReadableValues {
    /// Their UUIDs.
    public static let characteristics: [BluetoothUUID] = [
        BatteryLevel.uuid, Temperature.uuid, FirmwareRevisionString.uuid,
    ]

    /// Converts a value to a field of a device's state. Returns nil if the characteristic is not supported, or if the
    /// value is malformed.
    public static func field(_ characteristic: BluetoothUUID, _ octets: [UInt8]) -> AdvertisedField? {
        switch characteristic {
        case BatteryLevel.uuid:
            (try? BatteryLevel(decoding: octets.span)).map {
                AdvertisedField("battery", .number(FixedPointNumber(Int64($0.percentage))), unit: "%")
            }
        case Temperature.uuid:
            (try? Temperature(decoding: octets.span))?.celsius.map {
                AdvertisedField("temperature", .number(FixedPointNumber(nearest: $0, places: 2)), unit: "°C")
            }
        case FirmwareRevisionString.uuid:
            (try? FirmwareRevisionString(decoding: octets.span)).map {
                // A device's text may be as long as an attribute value.
                AdvertisedField("firmware_version", .text(String($0.text.prefix(64))))
            }
        default: nil
        }
    }
}
