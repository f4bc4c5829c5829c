import BluetoothBase
import BluetoothGAP

/// What a scan without duplicates does with a report: from the report to the decision whether it is news.
enum Scanning {
    /// Reports that say nothing new, from each of the devices in turn.
    static func repeatReports(_ count: Int, from devices: Int) -> Int {
        var filter = full(devices), sum = 0
        for number in 0..<count { sum += receive(number % devices, &filter) }
        precondition(sum == 0 && filter.sightings.count == devices)
        return count
    }

    /// Each report is the first of its device, and the device not received for longest is forgotten.
    static func replaceDevices(_ count: Int, among devices: Int) -> Int {
        var filter = full(devices), sum = 0
        for number in 0..<count { sum += receive(devices + number, &filter) }
        precondition(sum == count && filter.sightings.count == devices)
        return sum
    }

    /// A filter that knows as many devices as it can.
    private static func full(_ devices: Int) -> SightingFilter {
        var filter = SightingFilter(ScanFilter(services: ["180F"]), capacity: devices)
        for number in 0..<devices { _ = receive(number, &filter) }
        return filter
    }

    /// The data of the advertising report in `Packets`. Returns 1 if the device is to be reported.
    @inline(never)
    private static func receive(_ number: Int, _ filter: inout SightingFilter) -> Int {
        let address = DeviceAddress(UInt64(number) | 0xC000_0000_0000, kind: .random)
        let report = AdvertisingReport(
            address: address, eventType: [.legacy, .connectable, .scannable], rssi: -60, data: data.span)
        return filter.receive(report, at: .zero) == nil ? 0 : 1
    }

    private static let data = Array(Packets.advertisingReport[14..<45])
}
