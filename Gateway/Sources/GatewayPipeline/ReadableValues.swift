import BluetoothBase
import BluetoothValues

/// Characteristics whose values, read from a device, become part of its state.
public enum ReadableValues {
    /// Their UUIDs.
    public static let characteristics: [BluetoothUUID] = [
        BatteryLevel.uuid, Temperature.uuid, FirmwareRevisionString.uuid,
    ]

    /// A value as a field of a state; nil if the characteristic is none of those, or the value none of its kind.
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
                // A text of a device may be as long as an attribute.
                AdvertisedField("firmware_version", .text(String($0.text.prefix(64))))
            }
        default: nil
        }
    }
}
