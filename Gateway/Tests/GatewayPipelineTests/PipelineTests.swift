import BluetoothBase
import BluetoothCrypto
import BluetoothValues
import Testing
@testable import GatewayPipeline

/// What is told, and what is not, of packets and of time.
@Suite struct PipelineTests {
    func pipeline(_ change: (inout PipelineSettings) -> Void = { _ in }) -> Pipeline {
        var settings = PipelineSettings()
        change(&settings)
        return Pipeline(settings)
    }

    @Test func newValueIsToldAtOnce() {
        var pipeline = pipeline()
        #expect(pipeline.texts(Reception(bthome("02CA09"), at: 1)) == ["state -60@hci0 temperature=25.06"])
        #expect(pipeline.counters.reported == 1)
    }

    @Test func identicalPacketIsToldOnce() {
        var pipeline = pipeline()
        _ = pipeline.texts(Reception(bthome("02CA09"), at: 1))
        for second in 2..<60 { #expect(pipeline.texts(Reception(bthome("02CA09"), at: Double(second))) == []) }
        #expect(pipeline.counters.repeated == 58)
    }

    @Test func sameValuesInNewPacketAreNotTold() {
        var pipeline = pipeline()
        _ = pipeline.texts(Reception(bthome("000102CA09"), at: 1))
        #expect(pipeline.texts(Reception(bthome("000202CA09"), at: 2)) == [])
        #expect(pipeline.texts(Reception(bthome("000302CB09"), at: 3)) == ["state -60@hci0 temperature=25.07"])
    }

    @Test func packetHeardByTwoAdaptersIsToldOnce() {
        var pipeline = pipeline()
        _ = pipeline.texts(Reception(bthome("000102CA09"), at: 1))
        let other = [UInt8](hexadecimal: "020106")! + bthome("000102CA09")
        #expect(pipeline.texts(Reception(other, adapter: "hci1", at: 1.01)) == [])
    }

    @Test func unchangedValueIsRepeatedAfterTheInterval() {
        var pipeline = pipeline { $0.repetition = .seconds(10) }
        _ = pipeline.texts(Reception(bthome("02CA09"), at: 1))
        #expect(pipeline.texts(Reception(bthome("02CA09"), at: 10.9)) == [])
        #expect(pipeline.texts(Reception(bthome("02CA09"), at: 11)) == ["state -60@hci0 temperature=25.06"])
    }

    @Test func stateHasWhatEarlierPacketsSaid() {
        var pipeline = pipeline()
        _ = pipeline.texts(Reception(bthome("02CA09"), at: 1))
        #expect(pipeline.texts(Reception(bthome("0161"), at: 2)) == ["state -60@hci0 temperature=25.06 battery=97"])
    }

    @Test func signalIsTheMeanAtTheBestAdapter() {
        var pipeline = pipeline()
        _ = pipeline.texts(Reception(bthome("02CA09"), at: 1))
        _ = pipeline.texts(Reception(bthome("02CA09"), rssi: -80, at: 2))
        _ = pipeline.texts(Reception(bthome("02CA09"), rssi: -50, adapter: "hci1", at: 2))
        #expect(
            pipeline.texts(Reception(bthome("02CB09"), rssi: -41, adapter: "hci1", at: 3))
                == ["state -46@hci1 temperature=25.07"])
    }

    // MARK: - Events

    @Test func pressWithNumberIsOneEvent() {
        var pipeline = pipeline()
        #expect(
            pipeline.texts(Reception(bthome("00013A01"), at: 1))
                == ["event -60@hci0 button=press", "state -60@hci0 "])
        #expect(pipeline.texts(Reception(bthome("00013A01"), at: 1.1)) == [])
        #expect(pipeline.texts(Reception(bthome("00023A01"), at: 1.2)) == ["event -60@hci0 button=press"])
    }

    @Test func pressWithoutNumberIsAnotherOneAfterSilence() {
        var pipeline = pipeline()
        _ = pipeline.texts(Reception(bthome("3A04"), at: 1))
        #expect(pipeline.texts(Reception(bthome("3A04"), at: 2)) == [])
        #expect(pipeline.texts(Reception(bthome("3A04"), at: 6.9)) == [])
        #expect(pipeline.texts(Reception(bthome("3A04"), at: 12)) == ["event -60@hci0 button=long_press"])
    }

    @Test func buttonThatNobodyPressedIsNoEvent() {
        var pipeline = pipeline()
        #expect(
            pipeline.texts(Reception(bthome("00013A003A02"), at: 1)).first == "event -60@hci0 button_2=double_press")
    }

    // MARK: - Caps

    @Test func cappedDeviceIsToldOfLater() {
        var pipeline = pipeline {
            $0.deviceRate = 1
            $0.deviceBurst = 1
        }
        _ = pipeline.texts(Reception(bthome("02CA09"), at: 1))
        #expect(pipeline.texts(Reception(bthome("02CB09"), at: 1.2)) == [])
        #expect(pipeline.texts(Reception(bthome("02CC09"), at: 1.4)) == [])
        #expect(pipeline.texts(at: 1.9) == [])
        #expect(pipeline.texts(at: 2.0) == ["state -60@hci0 temperature=25.08"])
        #expect(pipeline.texts(at: 9) == [])
        #expect(pipeline.counters.delayed == 1)
    }

    @Test func capOnAllIsSharedInOrder() {
        var pipeline = pipeline {
            $0.totalRate = 1
            $0.totalBurst = 1
        }
        let others = (0..<3).map { DeviceAddress(UInt64($0 + 1), kind: .public) }
        var told: [DeviceAddress] = []
        for other in others {
            told += pipeline.receive(Reception(bthome("02CA09"), from: other, at: 1), at: epoch).map(\.identity)
        }
        for second in 2..<6 { told += pipeline.advance(to: .at(Double(second)), at: epoch).map(\.identity) }
        #expect(told == others)
    }

    @Test func eventBeyondTheCapOnAllIsCounted() {
        var pipeline = pipeline {
            $0.totalRate = 0.1
            $0.totalBurst = 1
        }
        _ = pipeline.texts(Reception(bthome("02CA09"), from: DeviceAddress(1, kind: .public), at: 1))
        #expect(pipeline.texts(Reception(bthome("00013A01"), at: 1)) == [])
        #expect(pipeline.counters.droppedEvents == 1)
    }

    @Test("Each event of a packet counts against the limit on all devices")
    func severalEventsBeyondTheCap() {
        var pipeline = pipeline {
            $0.totalRate = 0.1
            $0.totalBurst = 2
        }
        #expect(
            pipeline.texts(Reception(bthome("00013A013A023A03"), at: 1)) == [
                "event -60@hci0 button=press button_2=double_press"
            ])
        #expect(pipeline.counters.droppedEvents == 1)
    }

    // MARK: - Averages

    @Test func valuesAreAveragedOverTheWindow() {
        var pipeline = pipeline { $0.averaging = .seconds(10) }
        for (second, object) in [(1.0, "020A00"), (2, "020B00"), (3, "020D00")] {
            #expect(pipeline.texts(Reception(bthome(object), at: second)) == [])
        }
        #expect(pipeline.texts(at: 10.9) == [])
        // 0.10, 0.11 and 0.13: their mean is 0.1133…
        #expect(pipeline.texts(at: 11) == ["state -60@hci0 temperature=0.11"])
        #expect(pipeline.texts(at: 30) == [])
    }

    @Test("A device that is forgotten and heard again does not delay the windows of other devices")
    func windowsAfterForgetting() {
        var pipeline = pipeline {
            $0.averaging = .seconds(10)
            $0.expiry = .seconds(5)
        }
        let other = DeviceAddress(1, kind: .public)
        _ = pipeline.texts(Reception(bthome("020A00"), at: 1))
        for second in [2.0, 5] { _ = pipeline.texts(Reception(bthome("020B00"), from: other, at: second)) }
        #expect(pipeline.texts(at: 6) == ["state -60@hci0 temperature=0.10"])
        // The same device, with a window that ends after the other's.
        for second in [6.5, 10] { _ = pipeline.texts(Reception(bthome("020A00"), at: second)) }
        _ = pipeline.texts(Reception(bthome("020B00"), from: other, at: 10))
        #expect(pipeline.texts(at: 12) == ["state -60@hci0 temperature=0.11"])
    }

    @Test(arguments: [
        ([10, 11], "0.11"), ([-10, -11], "-0.11"), ([10, 10, 11], "0.10"), ([1, -1], "0.00"), ([-1, -1, -1], "-0.01"),
    ])
    func meansAreRounded(digits: [Int64], mean: String) {
        var averager = Averager()
        for digits in digits {
            averager.add([AdvertisedField("t", .number(FixedPointNumber(digits, places: 2)))], limit: 1)
        }
        #expect(averager.takeMeans() == [AdvertisedField("t", .number(FixedPointNumber(mean)!))])
        #expect(averager.isEmpty)
    }

    @Test func hugeNumbersDoNotOverflow() {
        var averager = Averager()
        for _ in 0..<3 { averager.add([AdvertisedField("t", .number(FixedPointNumber(.max)))], limit: 1) }
        #expect(averager.takeMeans() == [AdvertisedField("t", .number(FixedPointNumber(.max)))])
    }

    // MARK: - Encryption

    @Test func encryptedMessageIsToldOnceAndNotReplayed() {
        let key = [UInt8](hexadecimal: "231D39C1D7CC1AB1AEE224CD096DB932")!
        func message(_ counter: UInt32) -> [UInt8] {
            let value = BTHome([BTHomeObject("temperature", text: "2\(counter).5")!])
            return [UInt8](hexadecimal: "16D2FC")!.prefixed(
                EncryptedBTHome(value, key: key, address: sensor, counter: counter, with: AESCCM()).encoded)
        }
        var pipeline = pipeline { $0.keys = [sensor: key] }
        #expect(pipeline.texts(Reception(message(5), at: 1)) == ["state -60@hci0 temperature=25.50"])
        #expect(pipeline.texts(Reception(message(6), at: 2)) == ["state -60@hci0 temperature=26.50"])
        #expect(pipeline.texts(Reception(message(5), at: 3)) == [])
        #expect(pipeline.counters.replayed == 1)
        // A new battery.
        #expect(pipeline.texts(Reception(message(1), at: 650)).first == "state -60@hci0 temperature=21.50")

        var without = self.pipeline()
        #expect(without.texts(Reception(message(5), at: 1)) == [])
        #expect(without.counters.withoutKey == 1)
    }

    @Test(
        "Only encrypted data is accepted from a device with a key",
        arguments: [bthome("02CA09"), Beacon.iBeacon, eddystoneTLM])
    func plainDataOfDeviceWithKey(packet: [UInt8]) {
        var pipeline = pipeline { $0.keys = [sensor: [UInt8](repeating: 1, count: 16)] }
        #expect(pipeline.texts(Reception(packet, at: 1)) == [])
        #expect(pipeline.counters.withoutKey == 1)
        let other = DeviceAddress(1, kind: .public)
        #expect(pipeline.texts(Reception(packet, from: other, at: 1)).count == 1)
    }

    // MARK: - Bounds

    @Test func silentDevicesAreForgotten() {
        var pipeline = pipeline { $0.expiry = .seconds(20) }
        _ = pipeline.texts(Reception(bthome("02CA09"), at: 1))
        _ = pipeline.texts(at: 20.9)
        #expect(pipeline.deviceCount == 1)
        _ = pipeline.texts(at: 21)
        #expect(pipeline.deviceCount == 0)
    }

    @Test func manyDevicesDisplaceTheOldestAndNothingIsLost() {
        var pipeline = pipeline {
            $0.capacity = 2
            $0.deviceBurst = 1
        }
        _ = pipeline.texts(Reception(bthome("02CA09"), at: 1))
        _ = pipeline.texts(Reception(bthome("02CB09"), at: 1.1))
        _ = pipeline.texts(Reception(bthome("02CA09"), from: DeviceAddress(1, kind: .public), at: 2))
        let last = pipeline.texts(Reception(bthome("02CC09"), from: DeviceAddress(2, kind: .public), at: 3))
        #expect(last == ["state -60@hci0 temperature=25.07", "state -60@hci0 temperature=25.08"])
        #expect(pipeline.deviceCount == 2)
        #expect(pipeline.counters.displaced == 1)
    }

    @Test func undecodedDeviceIsToldOfWhereWanted() {
        let name = [UInt8](hexadecimal: "0409414243")!
        var silent = pipeline()
        #expect(silent.texts(Reception(name, at: 1)) == [])
        var telling = pipeline { $0.tellsUndecoded = true }
        let reports = telling.receive(Reception(name, at: 1), at: epoch)
        #expect(reports.map(\.name) == ["ABC"])
        #expect(telling.texts(Reception(name, at: 2)) == [])
    }

    @Test func adapterWithoutTheResponseChangesNothing() {
        var pipeline = pipeline { $0.comparison = .data }
        let response = [UInt8](hexadecimal: "0409414243")!
        #expect(pipeline.texts(Reception(bthome("02CA09"), response: response, at: 1)).count == 1)
        #expect(pipeline.texts(Reception(bthome("02CA09"), adapter: "hci1", at: 2)) == [])
    }
}

extension [UInt8] {
    fileprivate func prefixed(_ data: [UInt8]) -> [UInt8] { [UInt8(count + data.count)] + self + data }
}
