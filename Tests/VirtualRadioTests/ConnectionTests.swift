import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing
import VirtualRadio

@Suite("Connecting")
struct ConnectionTests {
    static let centralComplete = "04 3E 13 01 00 40 00 00 00 A0 00 00 00 00 00 18 00 00 00 64 00 00"
    static let peripheralComplete = "04 3E 13 01 00 40 00 01 00 C0 00 00 00 00 00 18 00 00 00 64 00 00"

    @Test("An initiator connects at the next advertising event it receives, and both hosts are notified")
    func connect() {
        var bench = Bench()
        bench.unmask()
        bench.startAdvertising()
        #expect(bench.answer(to: Bench.createConnection(), from: bench.central) == "04 0F 04 00 01 0D 20")
        #expect(bench.air[bench.central].isInitiating)
        bench.run(.milliseconds(110))
        #expect(bench.received(by: bench.central) == [Self.centralComplete])
        #expect(bench.received(by: bench.peripheral) == [Self.peripheralComplete])
        #expect(!bench.air[bench.central].isInitiating && !bench.air[bench.peripheral].isAdvertising)
        #expect(bench.air[bench.central].connectionCount == 1 && bench.air[bench.peripheral].connectionCount == 1)
    }

    @Test(
        "Which advertisers an initiator connects to",
        arguments: [
            (LESetAdvertisingParameters(type: .connectableUndirected), Bench.peripheralAddress, true),
            (LESetAdvertisingParameters(type: .scannableUndirected), Bench.peripheralAddress, false),
            (LESetAdvertisingParameters(type: .nonConnectableUndirected), Bench.peripheralAddress, false),
            (LESetAdvertisingParameters(), DeviceAddress(0xA1, kind: .public), false),
            (LESetAdvertisingParameters(), DeviceAddress(0xA0, kind: .random), false),
            (
                LESetAdvertisingParameters(
                    type: .connectableDirectedHighDutyCycle, peerAddress: Bench.centralAddress),
                Bench.peripheralAddress, true
            ),
            (
                LESetAdvertisingParameters(
                    type: .connectableDirectedLowDutyCycle, peerAddress: DeviceAddress(0xC1, kind: .public)),
                Bench.peripheralAddress, false
            ),
            (LESetAdvertisingParameters(filterPolicy: .connectFromAcceptList), Bench.peripheralAddress, false),
            (LESetAdvertisingParameters(filterPolicy: .scanFromAcceptList), Bench.peripheralAddress, true),
        ])
    func who(advertising: LESetAdvertisingParameters, peer: DeviceAddress, isConnected: Bool) {
        var bench = Bench()
        bench.unmask()
        bench.prepare(bench.central, Bench.createConnection(to: peer))
        bench.startAdvertising(advertising)
        bench.run(.milliseconds(1))
        #expect(bench.received(by: bench.central) == (isConnected ? [Self.centralComplete] : []))
        #expect(bench.received(by: bench.peripheral) == (isConnected ? [Self.peripheralComplete] : []))
    }

    @Test("With the filter accept list, an initiator connects to the first listed device it receives")
    func acceptList() {
        var bench = Bench()
        bench.unmask()
        var command = Bench.createConnection(to: DeviceAddress(0, kind: .public))
        command.filterPolicy = .acceptList
        bench.prepare(bench.central, command)
        bench.startAdvertising()
        bench.run(.seconds(1))
        #expect(bench.air[bench.central].connectionCount == 0)
        bench.prepare(
            bench.central, LECreateConnectionCancel(), LEAddDeviceToFilterAcceptList(address: Bench.peripheralAddress),
            command)
        bench.run(.seconds(1))
        #expect(bench.received(by: bench.central) == [Self.centralComplete])
    }

    @Test("Random addresses are reported as such")
    func randomAddresses() {
        var bench = Bench()
        bench.unmask()
        let random = DeviceAddress(0xC000_0000_0001, kind: .random)
        bench.prepare(bench.peripheral, LESetRandomAddress(address: random))
        bench.prepare(bench.central, Bench.createConnection(to: random))
        bench.startAdvertising(LESetAdvertisingParameters(ownAddressType: .random))
        bench.run(.zero)
        #expect(
            bench.received(by: bench.central) == [
                "04 3E 13 01 00 40 00 00 01 01 00 00 00 00 C0 18 00 00 00 64 00 00"
            ])
    }

    @Test("A cancelled connection ends in Command Complete, then Connection Complete with an error")
    func cancel() {
        var bench = Bench()
        bench.unmask()
        #expect(bench.answer(to: "01 0E 20 00", from: bench.central) == "04 0E 04 01 0E 20 0C")
        bench.prepare(bench.central, Bench.createConnection())
        #expect(
            bench.answer(to: "01 0E 20 00", from: bench.central)
                == "04 0E 04 01 0E 20 00; 04 3E 13 01 02 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00")
        bench.startAdvertising()
        bench.run(.seconds(1))
        #expect(bench.received(by: bench.central) == [])
    }

    @Test("A second connection to the same device gets Connection Already Exists")
    func alreadyConnected() {
        var bench = Bench()
        bench.connect()
        #expect(bench.answer(to: Bench.createConnection(), from: bench.central) == "04 0F 04 0B 01 0D 20")
    }

    @Test("The number of connections is limited on both sides")
    func limit() {
        var bench = Bench(central: { $0.maximumConnections = 1 }, peripheral: { $0.maximumConnections = 1 })
        bench.connect()
        let other = Bench.createConnection(to: DeviceAddress(0xA1, kind: .public))
        #expect(bench.answer(to: other, from: bench.central) == "04 0F 04 09 01 0D 20")
        #expect(bench.answer(to: "01 0A 20 01 01", from: bench.peripheral) == "04 0E 04 01 0A 20 09")
    }

    @Test("One controller holds many links at once, in both roles")
    func manyLinks() {
        var bench = Bench()
        bench.unmask()
        let others = (1...5).map { index in
            let address = DeviceAddress(UInt64(0xB0 + index), kind: .public)
            return (bench.air.addController(ControllerConfiguration(publicAddress: address)), address)
        }
        for (other, address) in others {
            bench.prepare(
                other, SetEventMask(eventMask: EventMask(rawValue: .max)), LESetAdvertisingEnable(isEnabled: true))
            bench.send(Bench.createConnection(to: address), from: bench.central)
            bench.run(.seconds(3))
        }
        bench.send(LESetAdvertisingEnable(isEnabled: true), from: bench.central)
        bench.prepare(bench.peripheral, Bench.createConnection(to: Bench.centralAddress))
        bench.run(.seconds(3))
        let handles = bench.received(by: bench.central).filter { $0.hasPrefix("04 3E 13 01 00") }
            .map { $0.split(separator: " ")[5...7].joined(separator: " ") }
        #expect(handles == ["40 00 00", "41 00 00", "42 00 00", "43 00 00", "44 00 00", "45 00 01"])
        #expect(bench.air[bench.central].connectionCount == 6)
        #expect(bench.air.nextDeadline == nil)
    }

    @Test("A connection that fails to be established is reported and then lost, and its advertiser is unaffected")
    func failedToBeEstablished() {
        var bench = Bench()
        bench.unmask()
        bench.air[bench.central].faults.failingConnections = 1
        bench.prepare(bench.central, Bench.createConnection())
        bench.startAdvertising()
        bench.run(.milliseconds(179))
        #expect(bench.received(by: bench.central) == [Self.centralComplete])
        bench.run(.milliseconds(1))
        #expect(bench.received(by: bench.central) == ["04 05 04 00 40 00 3E"])
        #expect(bench.received(by: bench.peripheral) == [] && bench.air[bench.peripheral].isAdvertising)
        // The next one works.
        bench.prepare(bench.central, Bench.createConnection())
        bench.run(.seconds(1))
        #expect(bench.received(by: bench.central) == [Self.centralComplete])
    }
}
