import BluetoothBase
import BluetoothGAP

/// The duplicate filter of a scan: from the report to the decision whether to publish it.
enum Scanning {
    /// Receives reports without news, from each of the devices in turn.
    static func repeatReports(_ count: Int, from devices: Int) -> Int {
        var filter = full(devices), sum = 0
        for number in 0..<count { sum += receive(number % devices, &filter) }
        precondition(sum == 0 && filter.sightings.count == devices)
        return count
    }

    /// Each report comes from a new device, and evicts the device that was received the longest time ago.
    static func replaceDevices(_ count: Int, among devices: Int) -> Int {
        var filter = full(devices), sum = 0
        for number in 0..<count { sum += receive(devices + number, &filter) }
        precondition(sum == count && filter.sightings.count == devices)
        return sum
    }

    /// A filter that is filled to capacity.
    private static func full(_ devices: Int) -> SightingFilter {
        var filter = SightingFilter(ScanFilter(services: ["180F"]), capacity: devices)
        for number in 0..<devices { _ = receive(number, &filter) }
        return filter
    }

    /// Receives the data of `Packets.advertisingReport`. Returns 1 if the filter publishes the device.
    @inline(never)
    private static func receive(_ number: Int, _ filter: inout SightingFilter) -> Int {
        let address = DeviceAddress(UInt64(number) | 0xC000_0000_0000, kind: .random)
        let report = AdvertisingReport(
            address: address, eventType: [.legacy, .connectable, .scannable], rssi: -60, data: data.span)
        return filter.receive(report, at: .zero) == nil ? 0 : 1
    }

    private static let data = Array(Packets.advertisingReport[14..<45])
}
