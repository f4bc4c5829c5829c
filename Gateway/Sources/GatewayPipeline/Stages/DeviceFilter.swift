import BluetoothBase
import BluetoothGAP

/// The first stage: selects the devices that the gateway listens to. A device must meet every condition that is set.
public struct DeviceFilter: Equatable, Sendable {
    /// The devices to listen to, by address or identity. If empty, all devices.
    public var allowed: Set<DeviceAddress> = []
    /// The devices to ignore, by address or identity, even if another condition lets them through.
    public var denied: Set<DeviceAddress> = []
    /// The device must list one of these services, or have service data for one.
    public var services: Set<BluetoothUUID> = []
    /// The device must have manufacturer data from one of these companies.
    public var companies: Set<UInt16> = []
    /// The weakest signal that counts, in dBm. A signal that was not measured counts.
    public var minimumRSSI: Int8?

    /// Creates a filter without conditions, which accepts every device.
    public init() {}

    /// Whether the device that sent a packet meets every condition.
    public func accepts(_ reception: Reception) -> Bool {
        if let minimumRSSI, let rssi = reception.rssi, rssi < minimumRSSI { return false }
        if !denied.isEmpty, denied.contains(reception.address.plain) || denied.contains(reception.identity.plain) {
            return false
        }
        if !allowed.isEmpty, !allowed.contains(reception.address.plain), !allowed.contains(reception.identity.plain) {
            return false
        }
        if services.isEmpty && companies.isEmpty { return true }
        let data = AdvertisementData(
            advertisingData: reception.advertisingData.span, scanResponseData: reception.scanResponseData.span)
        if !services.isEmpty {
            let isFound =
                data.serviceUUIDs.contains { services.contains($0) }
                || data.serviceData.contains { services.contains($0.uuid) }
            guard isFound else { return false }
        }
        return companies.isEmpty || data.manufacturerData.contains { companies.contains($0.companyID) }
    }
}

extension DeviceAddress {
    /// The address without the information that a controller resolved it. Filters compare plain addresses.
    public var plain: DeviceAddress {
        switch kind {
        case .publicIdentity: DeviceAddress(value, kind: .public)
        case .randomIdentity: DeviceAddress(value, kind: .random)
        default: self
        }
    }

    /// The 48 bits as twelve digits in upper case: `A4C138112233`.
    public var digits: String { hexadecimal(value, digits: 12) }

    /// The 48 bits in the usual notation: `A4:C1:38:11:22:33`.
    public var octets: String {
        (0..<6).map { hexadecimal(UInt8(truncatingIfNeeded: value >> UInt64(40 - 8 * $0))) }.joined(separator: ":")
    }
}
