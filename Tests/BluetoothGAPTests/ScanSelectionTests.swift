import BluetoothBase
import BluetoothGAP
import TestSupport
import Testing

/// A packet of the device.
private struct Packet: Sendable {
    var data: String
    var eventType: AdvertisingEventType = [.legacy, .connectable, .scannable]
    var txPowerLevel: Int8 = 127

    static let all = [
        Packet(data: "02 01 06"), Packet(data: "03 03 0D 18", txPowerLevel: 4), Packet(data: ""),
        Packet(data: "05 09 50 6F 6C 61", eventType: [.legacy, .scannable, .scanResponse]),
        Packet(data: "03 03 0D 18", eventType: [.legacy, .scannable, .scanResponse]),
        Packet(data: "", eventType: [.legacy, .scannable, .scanResponse], txPowerLevel: 8),
    ]

    @_lifetime(copy data)
    func report(_ data: Span<UInt8>) -> AdvertisingReport {
        AdvertisingReport(
            address: DeviceAddress(0xC011_2233_4455, kind: .random), eventType: eventType, rssi: -50,
            txPowerLevel: txPowerLevel, data: data)
    }
}

struct ScanSelectionTests {
    /// Every sequence of four packets, as indices of `Packet.all`.
    private static var sequences: [[Int]] {
        (0..<4).reduce([[]]) { sequences, _ in sequences.flatMap { start in Packet.all.indices.map { start + [$0] } } }
    }

    /// A sighting as text, without the time at which it was first seen.
    private func text(_ sighting: Sighting?) -> String {
        guard let sighting else { return "nothing" }
        return "\(sighting.eventType) \(sighting.details) \(sighting.lastSeen) \(sighting.advertisingData)"
            + " \(sighting.scanResponseData) \(sighting.txPowerLevel.map { "\($0)" } ?? "-")"
    }

    @Test(
        arguments: [
            ScanFilter(), ScanFilter(services: ["180D"]), ScanFilter(name: .exact("Pola")),
            ScanFilter(isConnectableOnly: true),
        ], [false, true])
    func `a scan that joins another one reports what it would report alone`(
        _ devices: ScanFilter, reportsDuplicates: Bool
    ) {
        for sequence in Self.sequences {
            for start in 1..<sequence.count {
                var table = SightingTable()
                var joined = ScanSelection(devices, reportsDuplicates: reportsDuplicates)
                var alone = SightingFilter(devices, reportsDuplicates: reportsDuplicates)
                for (number, packet) in sequence.map({ Packet.all[$0] }).enumerated() {
                    let now = Instant(nanoseconds: UInt64(number))
                    let data = bytes(packet.data)
                    let report = packet.report(data.span)
                    let (slot, novelty) = table.receive(report, at: now)
                    guard number >= start else { continue }
                    let expected = alone.receive(report, at: now).map { alone[$0] }
                    let reported: Sighting? =
                        switch joined.receive(report, in: slot, novelty, of: table) {
                        case .skip: nil
                        case .report: table[slot]
                        case .reportParts(let parts): table.excerpt(parts, of: slot, report)
                        }
                    guard text(reported) != text(expected) else { continue }
                    Issue.record("\(text(reported)) instead of \(text(expected)): \(sequence), from \(start)")
                    return
                }
            }
        }
    }

    @Test func `a device that has replaced another in the table is new to every scan`() {
        var table = SightingTable(capacity: 1)
        var scan = ScanSelection(ScanFilter(), reportsDuplicates: false)
        for (address, decision) in [(1, .report), (2, .report), (2, .skip), (1, .report)]
            as [(UInt64, ScanSelection.Decision)]
        {
            let report = AdvertisingReport(
                address: DeviceAddress(address, kind: .public), eventType: .connectable, data: Span<UInt8>())
            let (slot, novelty) = table.receive(report, at: .zero)
            #expect(scan.receive(report, in: slot, novelty, of: table) == decision)
        }
    }
}
