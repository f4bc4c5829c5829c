import BluetoothGAP
import BluetoothLE
import CoreBluetooth
import Foundation

/// A payload that a `VirtualPeripheral` advertises, and how often.
public struct VirtualAdvertisement: Sendable {
    /// The octets and flags on the air.
    var data: AdvertisementData
    /// Exactly these octets instead of `data`, if they come from a recording: advertising data and scan response.
    var octets: (advertisingData: [UInt8], scanResponseData: [UInt8])?
    /// Whether centrals may connect.
    public var isConnectable: Bool
    /// The time from one advertising event to the next, 20 ms to 10.24 s.
    public var interval: Duration
    /// The time before the first advertising event.
    public var delay: Duration
    /// Whether the peripheral goes on advertising this while a central is connected.
    public var isAdvertisedWhenConnected: Bool

    /// Creates a payload of at most 31 octets, and 31 more in the scan response.
    ///
    /// - Parameters:
    ///   - name: `CBAdvertisementDataLocalNameKey`.
    ///   - services: `CBAdvertisementDataServiceUUIDsKey`.
    ///   - serviceData: `CBAdvertisementDataServiceDataKey`.
    ///   - manufacturerData: `CBAdvertisementDataManufacturerDataKey`: the company identifier in two octets, least
    ///     significant first, then the manufacturer's own data.
    ///   - txPowerLevel: `CBAdvertisementDataTxPowerLevelKey`, in dBm.
    ///   - solicitedServices: `CBAdvertisementDataSolicitedServiceUUIDsKey`.
    ///   - isConnectable: `CBAdvertisementDataIsConnectable`.
    ///   - interval: the time from one advertising event to the next, 20 ms to 10.24 s.
    ///   - delay: the time before the first advertising event.
    ///   - isAdvertisedWhenConnected: whether the peripheral goes on while a central is connected.
    public init(
        name: String? = nil, services: [any CBUUIDConvertible] = [],
        serviceData: [(service: any CBUUIDConvertible, data: Data)] = [], manufacturerData: Data? = nil,
        txPowerLevel: Int8? = nil, solicitedServices: [any CBUUIDConvertible] = [], isConnectable: Bool = true,
        interval: Duration = .milliseconds(45), delay: Duration = .zero, isAdvertisedWhenConnected: Bool = true
    ) {
        data = AdvertisementData()
        data.flags = [.generalDiscoverable, .brEDRNotSupported]
        data.localName = name.map { .complete($0) }
        data.serviceUUIDs = services.map(\.cbuuid.bluetoothUUID)
        data.serviceData = serviceData.map { .init(uuid: $0.service.cbuuid.bluetoothUUID, data: $0.data) }
        data.manufacturerData =
            manufacturerData.map { octets in
                let head = octets.prefix(2).reversed().reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
                return [.init(companyID: head, data: octets.dropFirst(2))]
            } ?? []
        data.txPowerLevel = txPowerLevel
        data.solicitedServiceUUIDs = solicitedServices.map(\.cbuuid.bluetoothUUID)
        self.isConnectable = isConnectable
        self.interval = interval
        self.delay = delay
        self.isAdvertisedWhenConnected = isAdvertisedWhenConnected
    }

    /// Creates a payload from a dictionary with the keys that `didDiscover` passes to an app. Other keys are ignored.
    public init(
        _ dictionary: [String: Any], interval: Duration = .milliseconds(45), delay: Duration = .zero,
        isAdvertisedWhenConnected: Bool = true
    ) {
        let data = dictionary[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] ?? [:]
        self.init(
            name: dictionary[CBAdvertisementDataLocalNameKey] as? String,
            services: dictionary[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? [],
            serviceData: data.sorted { $0.key.uuidString < $1.key.uuidString }.map { ($0.key, $0.value) },
            manufacturerData: dictionary[CBAdvertisementDataManufacturerDataKey] as? Data,
            txPowerLevel: (dictionary[CBAdvertisementDataTxPowerLevelKey] as? NSNumber).map {
                Int8(clamping: $0.intValue)
            },
            solicitedServices: dictionary[CBAdvertisementDataSolicitedServiceUUIDsKey] as? [CBUUID] ?? [],
            isConnectable: (dictionary[CBAdvertisementDataIsConnectable] as? NSNumber)?.boolValue ?? true,
            interval: interval, delay: delay, isAdvertisedWhenConnected: isAdvertisedWhenConnected)
    }

    /// The same payload with another name, if it has one.
    func named(_ name: String) -> VirtualAdvertisement {
        var renamed = self
        if data.localName != nil { renamed.data.localName = .complete(name) }
        renamed.octets = octets.map {
            (Self.renamed($0.advertisingData, name), Self.renamed($0.scanResponseData, name))
        }
        return renamed
    }

    /// Replaces the names in AD structures (Core 5.4, Vol 3, Part C, 11): 0x08 is a shortened one, 0x09 a complete one.
    /// A name for which there is no room is shortened.
    private static func renamed(_ octets: [UInt8], _ name: String) -> [UInt8] {
        var structures: [[UInt8]] = [], rest = octets[...]
        while let length = rest.first, length > 0, rest.count > Int(length) {
            structures.append(Array(rest.prefix(Int(length) + 1)))
            rest = rest.dropFirst(Int(length) + 1)
        }
        let isName = { (structure: [UInt8]) in structure[1] == 0x08 || structure[1] == 0x09 }
        let others = structures.filter { !isName($0) }.joined().count + rest.count
        var shown = name[...]
        while shown.utf8.count > max(31, octets.count) - others - 2, !shown.isEmpty { shown.removeLast() }
        let renamed = [UInt8(clamping: shown.utf8.count + 1), shown.count == name.count ? 0x09 : 0x08] + shown.utf8
        return structures.flatMap { isName($0) ? renamed : $0 } + rest
    }

    /// The parameters of the advertising set.
    ///
    /// - Throws: `CBError(.invalidParameters)` if the data does not fit.
    var parameters: AdvertisingParameters {
        get throws {
            var octets = octets
            if octets == nil {
                do {
                    let payload = try AdvertisingPayload(data)
                    octets = (payload.advertisingData, payload.scanResponseData)
                } catch {
                    throw CBError(.invalidParameters)
                }
            }
            return AdvertisingParameters(
                isConnectable: isConnectable, interval: interval...interval, data: octets?.advertisingData ?? [],
                scanResponse: octets?.scanResponseData ?? [])
        }
    }
}
