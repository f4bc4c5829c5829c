import BluetoothGAP
import BluetoothLE

@testable import ble

/// A device that advertises, as a scan of the library reports it.
func sighting(
    _ data: [UInt8], response: [UInt8] = [], address: DeviceAddress = DeviceAddress(0xC011_2233_4455, kind: .random),
    peer: PeerID? = nil, sid: UInt8? = nil, rssi: Int8 = -60, at seconds: UInt64 = 0, isConnectable: Bool = true
) -> Sighting {
    var table = SightingTable(capacity: 1)
    let now = Instant(nanoseconds: seconds * 1_000_000_000)
    let type: AdvertisingEventType = isConnectable ? [.legacy, .connectable, .scannable] : [.legacy]
    let details = sid.map { AdvertisingDetails(primaryPHY: .le1M, sid: $0) } ?? .legacy
    let slot = table.receive(
        AdvertisingReport(
            address: address, peer: peer, eventType: type, rssi: rssi, details: details, data: data.span), at: now
    ).slot
    if !response.isEmpty {
        _ = table.receive(
            AdvertisingReport(
                address: address, eventType: [.legacy, .scanResponse], rssi: rssi, data: response.span), at: now)
    }
    return table[slot]
}

/// The data that says this.
func advertised(_ change: (inout AdvertisementData) -> Void) -> [UInt8] {
    var advertisement = AdvertisementData()
    change(&advertisement)
    guard let payload = try? AdvertisingPayload(advertisement, limits: .init(advertisingData: 254, scanResponseData: 0))
    else { fatalError("too long") }
    return payload.advertisingData
}

/// What nobody may do to a terminal, and how it is shown: colours, a title, a bell, bidirectional marks, a line
/// separator.
let hostileName = "a\u{1B}[31mb\u{07}\u{9B}c\u{202E}d\u{2028}\r\n"

/// Whether a text has anything in it that a terminal would take for more than text.
func isHarmless(_ text: String) -> Bool {
    !text.unicodeScalars.contains { scalar in
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
