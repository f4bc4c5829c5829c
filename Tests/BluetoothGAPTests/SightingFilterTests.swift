import BluetoothBase
import BluetoothGAP
import TestSupport
import Testing

private let device = DeviceAddress(0xC011_2233_4455, kind: .random)
private let connectable: AdvertisingEventType = [.legacy, .connectable, .scannable]
private let response: AdvertisingEventType = [.legacy, .scannable, .scanResponse]
private let flags = "02 01 06"
private let heartRate = "03 03 0D 18"
private let name = "05 09 50 6F 6C 61"

extension SightingFilter {
    /// Whether a report is reported.
    fileprivate mutating func reports(
        _ data: String, _ eventType: AdvertisingEventType = connectable, from address: DeviceAddress = device,
        rssi: Int8 = -50
    ) -> Bool {
        let data = bytes(data)
        let report = AdvertisingReport(address: address, eventType: eventType, rssi: rssi, data: data.span)
        guard let slot = receive(report, at: .zero) else { return false }
        #expect(self[slot].address == address)
        return true
    }
}

struct SightingFilterTests {
    /// A packet, and whether it is reported: without duplicates, and with them.
    struct Step: Sendable {
        var data: String
        var eventType = connectable
        var rssi: Int8 = -50
        var once: Bool
        var always: Bool
    }

    struct Sequence: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var filter = ScanFilter()
        var steps: [Step]
    }

    @Test(
        arguments: [
            Sequence(
                testDescription: "a device that repeats itself",
                steps: [
                    Step(data: flags, once: true, always: true), Step(data: flags, once: false, always: true),
                    Step(data: flags, rssi: -60, once: false, always: true),
                ]),
            Sequence(
                testDescription: "data that changes with every packet",
                steps: [
                    Step(data: "02 FF 01", once: true, always: true),
                    Step(data: "02 FF 02", once: false, always: true),
                ]),
            Sequence(
                testDescription: "a scan response",
                steps: [
                    Step(data: flags, once: true, always: true),
                    Step(data: name, eventType: response, once: true, always: true),
                    Step(data: flags, once: false, always: true),
                    Step(data: name, eventType: response, once: false, always: true),
                ]),
            Sequence(
                testDescription: "a scan response that came first",
                steps: [
                    Step(data: name, eventType: response, once: true, always: true),
                    Step(data: flags, once: true, always: true),
                ]),
            Sequence(
                testDescription: "a condition that the scan response meets",
                filter: ScanFilter(name: .exact("Pola")),
                steps: [
                    Step(data: flags, once: false, always: false),
                    Step(data: flags, once: false, always: false),
                    Step(data: name, eventType: response, once: true, always: true),
                    Step(data: flags, once: false, always: true),
                ]),
            Sequence(
                testDescription: "a condition that only later data meets",
                filter: ScanFilter(services: ["180D"]),
                steps: [
                    Step(data: flags, once: false, always: false),
                    Step(data: heartRate, once: true, always: true),
                    Step(data: heartRate, once: false, always: true),
                    Step(data: flags, once: false, always: false),
                    Step(data: heartRate, once: false, always: true),
                ]),
            Sequence(
                testDescription: "a device that comes nearer, and leaves",
                filter: ScanFilter(rssi: -60...0),
                steps: [
                    Step(data: flags, rssi: -80, once: false, always: false),
                    Step(data: flags, rssi: -60, once: true, always: true),
                    Step(data: flags, rssi: -80, once: false, always: false),
                    Step(data: flags, rssi: -59, once: false, always: true),
                ]),
            Sequence(
                testDescription: "a scan response from too far away",
                filter: ScanFilter(rssi: -60...0),
                steps: [
                    Step(data: flags, rssi: -50, once: true, always: true),
                    Step(data: name, eventType: response, rssi: -80, once: false, always: false),
                    Step(data: name, eventType: response, rssi: -50, once: false, always: true),
                ]),
        ])
    func `a device is reported when it first matches and when its data is completed; duplicates are optional`(
        _ sequence: Sequence
    ) {
        var once = SightingFilter(sequence.filter)
        var always = SightingFilter(sequence.filter, reportsDuplicates: true)
        for (number, step) in sequence.steps.enumerated() {
            #expect(once.reports(step.data, step.eventType, rssi: step.rssi) == step.once, "packet \(number)")
            #expect(always.reports(step.data, step.eventType, rssi: step.rssi) == step.always, "packet \(number)")
        }
    }

    @Test func `devices are tracked separately, whether or not they match the filter`() {
        let other = DeviceAddress(0xC011_2233_4456, kind: .random)
        var filter = SightingFilter(ScanFilter(services: ["180D"]))
        #expect(filter.reports(flags) == false)
        #expect(filter.reports(heartRate, from: other) == true)
        #expect(filter.reports(heartRate, from: other) == false)
        #expect(filter.reports(heartRate) == true)
        #expect(filter.sightings.count == 2)
    }

    @Test func `a device evicted by another is reported again when it returns`() {
        let other = DeviceAddress(1, kind: .random)
        var filter = SightingFilter(capacity: 1)
        #expect(filter.reports(flags) == true)
        #expect(filter.reports(flags, from: other) == true)
        #expect(filter.reports(flags, from: other) == false)
        #expect(filter.reports(flags) == true)
        #expect(filter.sightings.count == 1)
    }

    @Test func `a device that takes over the slot of a reported device is not considered reported`() {
        var filter = SightingFilter(ScanFilter(services: ["180D"]), capacity: 1)
        #expect(filter.reports(heartRate) == true)
        #expect(filter.reports(flags, from: DeviceAddress(1, kind: .random)) == false)
        #expect(filter.reports(heartRate, from: DeviceAddress(1, kind: .random)) == true)
    }

    @Test func `after removeAll, a device is reported again`() {
        var filter = SightingFilter()
        #expect(filter.reports(flags) == true)
        filter.removeAll()
        #expect(filter.sightings.count == 0)
        #expect(filter.reports(flags) == true)
        #expect(filter.reports(flags) == false)
    }

    /// The capacity, how many devices come by twice, and how many reports that makes.
    @Test(
        arguments: [
            (SightingTable.defaultCapacity, 65_536, 65_536), (SightingTable.defaultCapacity, 65_636, 131_272),
            (4, 4, 4), (4, 5, 10),
        ])
    func `devices within the capacity are reported once, and evicted devices are reported again`(
        _ capacity: Int, _ devices: Int, _ reports: Int
    ) {
        var filter = SightingFilter(capacity: capacity)
        let data = bytes(flags)
        var reported = 0
        for round in 0..<2 {
            for number in 0..<devices {
                let address = DeviceAddress(UInt64(number) &* 0x1_0003 | 0xC000_0000_0000, kind: .random)
                let report = AdvertisingReport(address: address, eventType: connectable, data: data.span)
                if filter.receive(report, at: .zero) != nil { reported += 1 }
            }
            if round == 0 { #expect(reported == devices) }
        }
        #expect(reported == reports)
        #expect(filter.sightings.count == min(devices, capacity))
    }
}
