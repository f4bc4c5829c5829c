import BluetoothBase
import BluetoothGAP
import FuzzDriver

@testable import BusService
@testable import DBus

/// Advertisements of one device, as the properties of its object.
func fuzzAdvertised(_ script: inout Script) throws {
    let address = DeviceAddress(0xC000_0000_0001, kind: .random)
    var filter = SightingFilter(reportsDuplicates: true), advertised = Advertised(), time: UInt64 = 0
    for _ in 0..<Script.limit where !script.isEmpty {
        let data = script.chunk()
        let type: AdvertisingEventType = script.byte() & 1 == 0 ? [.connectable, .scannable] : [.scanResponse]
        let report = AdvertisingReport(
            address: address, peer: PeerID(address), eventType: type, rssi: Int8(bitPattern: script.byte()),
            data: data.span)
        time += UInt64(script.byte()) * 1_000_000
        guard let slot = filter.receive(report, at: Instant(nanoseconds: time * 1000)) else { continue }
        _ = advertised.update(filter[slot], at: time, reportsDuplicates: script.byte() & 1 == 0)
        let values: [DBusValue] = [
            .dictionary(
                key: "q", value: "v",
                advertised.manufacturerData.map { .init(.uint16($0.companyID), .variant(.bytes($0.data))) }),
            .variants(advertised.serviceData.map { (TextForm.uuid($0.uuid), .bytes($0.data)) }),
            .string(advertised.name ?? ""), .strings(advertised.serviceUUIDs.map(TextForm.uuid)),
        ]
        let received = try carry("a{qv}a{sv}sas") { message throws(BusFailure) in
            try advertised.appendManufacturerData(to: message)
            try advertised.appendServiceData(to: message)
            for value in values.dropFirst(2) { try message.append(value) }
        }
        try require(received == values, "\(values) was received as \(received)")
    }
}

/// The arguments of clients.
func fuzzArguments(_ script: inout Script) {
    while !script.isEmpty {
        let value = script.value(depth: 5)
        _ = try? DiscoveryFilter(value)
        _ = try? ValueOptions(value)
        _ = try? Advertisement.Content(value)
        _ = try? ApplicationObjects(value)
        _ = try? CharacteristicFlags(value.texts ?? [])
    }
}
