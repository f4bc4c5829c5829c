import BluetoothBase
import BluetoothGAP
import TestSupport
import Testing

private let address = DeviceAddress(0xC011_2233_4455, kind: .random)

/// A device with services 180D and, in its scan response, 180F; the name "Polar H10"; data of company 0x006B; -60 dBm.
private func sighting(
    rssi: Int8 = -60, eventType: AdvertisingEventType = [.connectable, .scannable],
    advertising: String = "02 01 06 03 03 0D 18 03 08 50 6F",
    response: String = "03 02 0F 18 0A 09 50 6F 6C 61 72 20 48 31 30 04 FF 6B 00 01",
    address: DeviceAddress = address
) -> Sighting {
    var table = SightingTable()
    let first = bytes(advertising), second = bytes(response)
    _ = table.receive(
        AdvertisingReport(address: address, eventType: eventType, rssi: rssi, data: first.span), at: .zero)
    let report = AdvertisingReport(
        address: address, eventType: [.scannable, .scanResponse], rssi: rssi, data: second.span)
    let slot = table.receive(report, at: .zero).slot
    return table[slot]
}

struct ScanFilterTests {
    @Test(
        arguments: [
            (ScanFilter(), true),
            (ScanFilter(services: ["180D"]), true),
            (ScanFilter(services: ["180F"]), true),
            (ScanFilter(services: ["1800", "180F"]), true),
            (ScanFilter(services: ["1800"]), false),
            (ScanFilter(name: .exact("Polar H10")), true),
            (ScanFilter(name: .exact("Polar")), false),
            (ScanFilter(name: .exact("Po")), false),
            (ScanFilter(name: .exact("")), false),
            (ScanFilter(name: .prefix("Polar")), true),
            (ScanFilter(name: .prefix("Polar H10")), true),
            (ScanFilter(name: .prefix("Polar H10 ")), false),
            (ScanFilter(name: .prefix("")), true),
            (ScanFilter(name: .prefix("olar")), false),
            (ScanFilter(addresses: [address]), true),
            (ScanFilter(addresses: [DeviceAddress(1, kind: .random), address]), true),
            (ScanFilter(addresses: [DeviceAddress(address.value, kind: .randomIdentity)]), true),
            (ScanFilter(addresses: [DeviceAddress(address.value, kind: .public)]), false),
            (ScanFilter(peers: [PeerID(address)]), true),
            (ScanFilter(peers: [PeerID(DeviceAddress(1, kind: .public)), PeerID(address)]), true),
            (ScanFilter(peers: [PeerID(DeviceAddress(address.value, kind: .public))]), false),
            (ScanFilter(peers: [PeerID(address)], addresses: [DeviceAddress(1, kind: .random)]), false),
            (ScanFilter(rssi: -60 ... -60), true),
            (ScanFilter(rssi: -59...20), false),
            (ScanFilter(rssi: -128 ... -61), false),
            (ScanFilter(companyID: 0x006B), true),
            (ScanFilter(companyID: 0x6B00), false),
            (ScanFilter(isConnectableOnly: true), true),
            (ScanFilter(isLimitedDiscoverableOnly: true), false),
            (
                ScanFilter(
                    services: ["180D"], name: .prefix("Polar"), addresses: [address], rssi: -80...0, companyID: 0x6B,
                    isConnectableOnly: true), true
            ),
            (ScanFilter(services: ["180D"], name: .prefix("Garmin")), false),
            (ScanFilter(services: ["1800"], name: .prefix("Polar")), false),
        ] as [(ScanFilter, Bool)])
    func `every condition that is set must hold`(_ filter: ScanFilter, _ expected: Bool) {
        #expect(filter.matches(sighting()) == expected)
    }

    @Test func `missing data meets no condition`() {
        let silent = sighting(rssi: 127, eventType: [], advertising: "", response: "")
        #expect(ScanFilter().matches(silent))
        #expect(!ScanFilter(services: ["180D"]).matches(silent))
        #expect(!ScanFilter(name: .exact("")).matches(silent))
        #expect(!ScanFilter(name: .prefix("")).matches(silent))
        #expect(!ScanFilter(rssi: -128...127).matches(silent))
        #expect(!ScanFilter(companyID: 0).matches(silent))
        #expect(!ScanFilter(isConnectableOnly: true).matches(silent))
    }

    @Test func `a shortened name is matched if there is no complete name`() {
        let shortened = sighting(response: "")
        #expect(ScanFilter(name: .exact("Po")).matches(shortened))
        #expect(ScanFilter(name: .prefix("P")).matches(shortened))
        #expect(!ScanFilter(name: .prefix("Polar")).matches(shortened))
    }

    @Test func `a long name is compared in full`() {
        let name = String(repeating: "Gerät ", count: 4)
        let data = [UInt8(name.utf8.count + 1), 0x09] + Array(name.utf8)
        let device = sighting(response: data.hexadecimal())
        #expect(ScanFilter(name: .exact(name)).matches(device))
        #expect(ScanFilter(name: .prefix(String(name.dropLast()))).matches(device))
        #expect(!ScanFilter(name: .exact(name + " ")).matches(device))
    }
}
