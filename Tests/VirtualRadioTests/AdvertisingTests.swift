import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing
import VirtualRadio

@Suite("Advertising and scanning")
struct AdvertisingTests {
    static let advertisement = bytes("02 01 06")
    static let scanResponse = bytes("02 09 41")
    static let report = "A0 00 00 00 00 00 03 02 01 06 CE"
    static let scanResponseReport = "04 3E 0F 02 01 04 00 A0 00 00 00 00 00 03 02 09 41 CE"

    /// A bench whose central scans for the peripheral's advertising, with data and scan response set.
    static func scanning(
        _ type: LEScanType = .passive, interval: UInt32 = 0x10, window: UInt32 = 0x10,
        policy: ScanningFilterPolicy = .all, filterDuplicates: Bool = false
    ) -> Bench {
        var bench = Bench()
        bench.unmask()
        bench.prepare(
            bench.peripheral, LESetAdvertisingData(data: advertisement), LESetScanResponseData(data: scanResponse))
        bench.prepare(
            bench.central,
            LESetScanParameters(
                type: type, interval: LESlots(rawValue: interval), window: LESlots(rawValue: window),
                filterPolicy: policy),
            LESetScanEnable(isEnabled: true, filterDuplicates: filterDuplicates))
        return bench
    }

    @Test(
        "Each kind of advertising is reported correctly, and answers scan requests if it is scannable",
        arguments: [
            (LEAdvertisingType.connectableUndirected, "04 3E 0F 02 01 00 00 \(report)", true),
            (.scannableUndirected, "04 3E 0F 02 01 02 00 \(report)", true),
            (.nonConnectableUndirected, "04 3E 0F 02 01 03 00 \(report)", false),
        ])
    func kinds(type: LEAdvertisingType, expected: String, isScannable: Bool) {
        for scan in [LEScanType.passive, .active] {
            var bench = Self.scanning(scan)
            bench.startAdvertising(LESetAdvertisingParameters(type: type))
            bench.run(.zero)
            let answers = scan == .active && isScannable ? [Self.scanResponseReport] : []
            #expect(bench.received(by: bench.central) == [expected] + answers)
        }
    }

    @Test(
        "Directed advertising is received by the device it names, and by no other",
        arguments: [
            (LEAdvertisingType.connectableDirectedHighDutyCycle, Bench.centralAddress, true),
            (.connectableDirectedLowDutyCycle, Bench.centralAddress, true),
            (.connectableDirectedLowDutyCycle, DeviceAddress(0xC1, kind: .public), false),
            (.connectableDirectedLowDutyCycle, DeviceAddress(0xC0, kind: .random), false),
        ])
    func directed(type: LEAdvertisingType, peer: DeviceAddress, isReceived: Bool) {
        var bench = Self.scanning(.active)
        bench.startAdvertising(LESetAdvertisingParameters(type: type, peerAddress: peer))
        bench.run(.zero)
        let expected = ["04 3E 0C 02 01 01 00 A0 00 00 00 00 00 00 CE"]
        #expect(bench.received(by: bench.central) == (isReceived ? expected : []))
    }

    @Test("High duty cycle directed advertising ends after 1.28 s, with an event")
    func advertisingTimeout() {
        var bench = Bench()
        bench.unmask()
        bench.startAdvertising(LESetAdvertisingParameters(type: .connectableDirectedHighDutyCycle))
        bench.run(.milliseconds(1279))
        #expect(bench.received(by: bench.peripheral) == [] && bench.air[bench.peripheral].isAdvertising)
        bench.run(.milliseconds(10))
        #expect(
            bench.received(by: bench.peripheral) == [
                "04 3E 13 01 3C 00 00 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
            ])
        #expect(!bench.air[bench.peripheral].isAdvertising && bench.air.nextDeadline == nil)
    }

    @Test("Advertising events follow each other after the interval and a random delay of at most 10 ms")
    func interval() {
        var bench = Bench()
        bench.startAdvertising()
        var delays: [Duration] = []
        var last = bench.now
        bench.air.fire(at: bench.now)
        for _ in 0..<100 {
            guard let next = bench.air.nextDeadline else { break }
            delays.append(last.duration(to: next))
            last = next
            bench.air.fire(at: next)
        }
        #expect(delays.count == 100)
        #expect(delays.allSatisfy { (.milliseconds(100)..<(.milliseconds(110))).contains($0) })
        #expect(Set(delays).count > 50)
    }

    @Test("Advertising and scanning stop on command, and leave no timer")
    func stopping() {
        var bench = Self.scanning()
        bench.startAdvertising()
        bench.run(.seconds(1))
        #expect(bench.received(by: bench.central).count >= 9)
        bench.prepare(bench.central, LESetScanEnable(isEnabled: false))
        bench.run(.seconds(1))
        #expect(bench.received(by: bench.central) == [])
        bench.prepare(bench.peripheral, LESetAdvertisingEnable(isEnabled: false))
        #expect(bench.air.nextDeadline == nil)
    }

    @Test("A scanner whose window is a tenth of its interval receives about a tenth of the reports")
    func scanWindow() {
        var bench = Self.scanning(interval: 0x640, window: 0xA0)
        bench.startAdvertising()
        bench.run(.seconds(100))
        #expect((60...130).contains(bench.received(by: bench.central).count))
    }

    @Test("An advertiser on one channel is received while the scanner is on that channel")
    func channelMap() {
        var bench = Self.scanning(interval: 0x640, window: 0x640)
        bench.startAdvertising(
            LESetAdvertisingParameters(
                intervalMin: LESlots(rawValue: 0xA0), intervalMax: LESlots(rawValue: 0xA0), channelMap: .channel38))
        var received: [Bool] = []
        for _ in 0..<6 {
            bench.run(.seconds(1))
            received.append(!bench.received(by: bench.central).isEmpty)
        }
        #expect(received == [false, true, false, false, true, false])
    }

    @Test("The filter accept list decides which devices a scanner reports")
    func scannerFilter() {
        var bench = Self.scanning(policy: .acceptListOnly)
        bench.startAdvertising()
        bench.run(.seconds(1))
        #expect(bench.received(by: bench.central) == [])
        bench.prepare(
            bench.central, LESetScanEnable(isEnabled: false),
            LEAddDeviceToFilterAcceptList(address: Bench.peripheralAddress), LESetScanEnable(isEnabled: true))
        bench.run(.seconds(1))
        #expect(bench.received(by: bench.central).isEmpty == false)
    }

    @Test("The filter accept list decides whose scan requests an advertiser answers")
    func advertiserFilter() {
        for isListed in [false, true] {
            var bench = Self.scanning(.active)
            if isListed {
                bench.prepare(bench.peripheral, LEAddDeviceToFilterAcceptList(address: Bench.centralAddress))
            }
            bench.startAdvertising(LESetAdvertisingParameters(filterPolicy: .scanFromAcceptList))
            bench.run(.zero)
            #expect(bench.received(by: bench.central).contains(Self.scanResponseReport) == isListed)
        }
    }

    @Test("A full filter accept list rejects further devices")
    func fullList() {
        var bench = Bench(central: { $0.filterAcceptListSize = 1 })
        #expect(
            bench.answer(to: "01 11 20 07 00 01 00 00 00 00 00", from: bench.central) == "04 0E 04 01 11 20 00")
        #expect(
            bench.answer(to: "01 11 20 07 00 01 00 00 00 00 00", from: bench.central) == "04 0E 04 01 11 20 00")
        #expect(
            bench.answer(to: "01 11 20 07 00 02 00 00 00 00 00", from: bench.central) == "04 0E 04 01 11 20 07")
        #expect(bench.answer(to: "01 10 20 00", from: bench.central) == "04 0E 04 01 10 20 00")
        #expect(
            bench.answer(to: "01 11 20 07 00 02 00 00 00 00 00", from: bench.central) == "04 0E 04 01 11 20 00")
    }

    @Test("Duplicates: one report and one scan response for each advertiser, until scanning is enabled again")
    func duplicates() {
        var bench = Self.scanning(.active, filterDuplicates: true)
        bench.startAdvertising()
        bench.run(.seconds(5))
        #expect(bench.received(by: bench.central).count == 2)
        bench.prepare(bench.central, LESetScanEnable(isEnabled: true, filterDuplicates: true))
        bench.run(.seconds(5))
        #expect(bench.received(by: bench.central).count == 2)
    }

    @Test("G2: the duplicate filter is bounded; forgotten devices are reported again")
    func boundedDuplicates() {
        var bench = Bench(central: { $0.duplicateFilterSize = 2 })
        bench.unmask()
        bench.prepare(bench.central, LESetScanEnable(isEnabled: true, filterDuplicates: true))
        for address in [1, 2, 1, 2, 3, 1] as [UInt64] {
            let random = DeviceAddress(0xC000_0000_0000 | address, kind: .random)
            bench.prepare(bench.peripheral, LESetRandomAddress(address: random))
            bench.startAdvertising(LESetAdvertisingParameters(ownAddressType: .random))
            bench.run(.zero)
            bench.prepare(bench.peripheral, LESetAdvertisingEnable(isEnabled: false))
        }
        let last = bench.received(by: bench.central).map { $0.split(separator: " ")[7] }
        #expect(last == ["01", "02", "03", "01"])
    }

    @Test("A host that reads nothing is sent a limited number of reports")
    func slowHost() {
        var bench = Self.scanning()
        bench.startAdvertising()
        bench.run(.seconds(60))
        #expect(bench.air[bench.central].outbox.count == 256)
    }
}
