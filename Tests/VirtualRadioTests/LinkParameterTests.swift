import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing
import VirtualRadio

@Suite("AirLink parameters")
struct LinkParameterTests {
    static let update = "01 13 20 0E 40 00 50 00 60 00 00 00 C8 00 00 00 00 00"

    @Test("A central changes the connection parameters, for both ends at once, some events later")
    func centralUpdate() {
        var bench = Bench()
        bench.connect()
        #expect(bench.answer(to: Self.update, from: bench.central) == "04 0F 04 00 01 13 20")
        #expect(bench.answer(to: Self.update, from: bench.central) == "04 0F 04 0C 01 13 20")
        bench.run(.milliseconds(7 * 30 - 1))
        #expect(bench.received(by: bench.central) == [])
        bench.run(.milliseconds(1))
        let expected = ["04 3E 0A 03 00 40 00 50 00 00 00 C8 00"]
        #expect(bench.received(by: bench.central) == expected && bench.received(by: bench.peripheral) == expected)
        // Data now moves every 100 ms.
        bench.run(.milliseconds(1))
        bench.send("02 40 00 01 00 AA", from: bench.central)
        bench.run(.milliseconds(98))
        #expect(bench.received(by: bench.peripheral) == [])
        bench.run(.milliseconds(1))
        #expect(bench.received(by: bench.peripheral) == ["02 40 20 01 00 AA"])
    }

    @Test(
        "Parameters out of range are rejected",
        arguments: [
            "05 00 60 00 00 00 C8 00", "60 00 50 00 00 00 C8 00", "50 00 60 00 F4 01 C8 00", "50 00 60 00 00 00 18 00",
            "50 00 81 0C 00 00 C8 00",
        ])
    func invalid(parameters: String) {
        var bench = Bench()
        bench.connect()
        #expect(
            bench.answer(to: "01 13 20 0E 40 00 \(parameters) 00 00 00 00", from: bench.central)
                == "04 0F 04 12 01 13 20")
    }

    @Test("A peripheral's parameter request is accepted by the central's host")
    func peripheralRequest() {
        var bench = Bench()
        bench.connect()
        #expect(bench.answer(to: Self.update, from: bench.peripheral) == "04 0F 04 00 01 13 20")
        bench.run(.milliseconds(30))
        #expect(bench.received(by: bench.central) == ["04 3E 0B 06 40 00 50 00 60 00 00 00 C8 00"])
        #expect(
            bench.answer(to: "01 20 20 0E 40 00 58 00 58 00 00 00 C8 00 00 00 00 00", from: bench.central)
                == "04 0E 06 01 20 20 00 40 00")
        bench.run(.milliseconds(300))
        let expected = ["04 3E 0A 03 00 40 00 58 00 00 00 C8 00"]
        #expect(bench.received(by: bench.central) == expected && bench.received(by: bench.peripheral) == expected)
        #expect(bench.air.nextDeadline == nil)
    }

    @Test("A peripheral's parameter request is rejected by the central's host")
    func peripheralRequestRejected() {
        var bench = Bench()
        bench.connect()
        bench.prepare(
            bench.peripheral,
            LEConnectionUpdate(connectionHandle: 0x40, connectionParameters: Bench.connectionParameters(interval: 80)))
        bench.run(.milliseconds(30))
        _ = bench.received(by: bench.central)
        #expect(bench.answer(to: "01 21 20 03 40 00 3B", from: bench.central) == "04 0E 06 01 21 20 00 40 00")
        bench.run(.milliseconds(30))
        #expect(bench.received(by: bench.peripheral) == ["04 3E 0A 03 3B 40 00 18 00 00 00 64 00"])
        // It cannot be answered twice.
        #expect(bench.answer(to: "01 21 20 03 40 00 3B", from: bench.central) == "04 0E 06 01 21 20 0C 40 00")
    }

    @Test("If the central's host masked the request, the peripheral learns that it is not supported")
    func requestMasked() {
        var bench = Bench()
        bench.connect()
        bench.prepare(bench.central, LESetEventMask(eventMask: .default))
        bench.send(Self.update, from: bench.peripheral)
        bench.run(.milliseconds(60))
        #expect(
            bench.received(by: bench.peripheral) == ["04 0F 04 00 01 13 20", "04 3E 0A 03 1A 40 00 18 00 00 00 64 00"])
    }

    @Test("Set Data Length is reported to both ends, and only if something changed")
    func dataLength() {
        var bench = Bench()
        bench.connect()
        let command = "01 22 20 06 40 00 FB 00 48 08"
        #expect(bench.answer(to: command, from: bench.central) == "04 0E 06 01 22 20 00 40 00")
        bench.run(.milliseconds(60))
        #expect(bench.received(by: bench.central) == ["04 3E 0B 07 40 00 FB 00 48 08 1B 00 48 01"])
        #expect(bench.received(by: bench.peripheral) == ["04 3E 0B 07 40 00 1B 00 48 01 FB 00 48 08"])
        bench.prepare(
            bench.central, LESetDataLength(connectionHandle: 0x40, transmit: LEDataLength(octets: 251, time: 2120)))
        bench.run(.milliseconds(60))
        #expect(bench.received(by: bench.central) == [] && bench.received(by: bench.peripheral) == [])
    }

    @Test("A suggested default data length is negotiated on new links automatically")
    func suggestedDataLength() {
        var bench = Bench()
        bench.unmask()
        bench.prepare(
            bench.peripheral, LEWriteSuggestedDefaultDataLength(transmit: LEDataLength(octets: 251, time: 2120)))
        bench.prepare(bench.central, Bench.createConnection())
        bench.startAdvertising()
        bench.run(.milliseconds(100))
        #expect(bench.received(by: bench.central).last == "04 3E 0B 07 40 00 1B 00 48 01 FB 00 48 08")
        #expect(
            bench.answer(to: "01 23 20 00", from: bench.peripheral).hasSuffix("04 0E 08 01 23 20 00 FB 00 48 08"))
    }

    @Test(
        "LE Set PHY changes the PHY, which both ends report",
        arguments: [
            ("00 02 02 00 00", "02 02", "02 02"), ("00 02 01 00 00", "02 01", "01 02"),
            ("00 03 03 00 00", "02 02", "02 02"), ("01 00 02 00 00", "01 02", "02 01"),
        ])
    func setPHY(parameters: String, own: String, peer: String) {
        var bench = Bench()
        bench.connect()
        #expect(bench.answer(to: "01 32 20 07 40 00 \(parameters)", from: bench.peripheral) == "04 0F 04 00 01 32 20")
        bench.run(.milliseconds(300))
        #expect(bench.received(by: bench.peripheral) == ["04 3E 06 0C 00 40 00 \(own)"])
        #expect(bench.received(by: bench.central) == ["04 3E 06 0C 00 40 00 \(peer)"])
        #expect(bench.answer(to: "01 30 20 02 40 00", from: bench.central) == "04 0E 08 01 30 20 00 40 00 \(peer)")
    }

    @Test("An unknown PHY is rejected; a PHY that the peer lacks changes nothing")
    func unsupportedPHY() {
        var bench = Bench(peripheral: { $0.features.remove(.le2MPHY) })
        bench.connect()
        #expect(bench.answer(to: "01 32 20 07 40 00 00 04 04 00 00", from: bench.central) == "04 0F 04 11 01 32 20")
        bench.prepare(
            bench.central, LESetPHY(connectionHandle: 0x40, transmit: [.le1M, .le2M], receive: [.le1M, .le2M]))
        bench.run(.milliseconds(300))
        #expect(bench.received(by: bench.central) == ["04 3E 06 0C 00 40 00 01 01"])
        #expect(bench.received(by: bench.peripheral) == [])
    }

    @Test("The remote features and version are read")
    func remoteInformation() {
        var bench = Bench(peripheral: {
            $0.features = [.encryption, .le2MPHY]
            $0.version = .v50
            $0.companyIdentifier = 0x0059
            $0.subversion = 0x1234
        })
        bench.connect()
        #expect(bench.answer(to: "01 16 20 02 40 00", from: bench.central) == "04 0F 04 00 01 16 20")
        #expect(bench.answer(to: "01 1D 04 02 40 00", from: bench.central) == "04 0F 04 00 01 1D 04")
        bench.run(.milliseconds(60))
        #expect(
            bench.received(by: bench.central) == [
                "04 3E 0C 04 00 40 00 01 01 00 00 00 00 00 00", "04 0C 08 00 40 00 09 59 00 34 12",
            ])
    }

    @Test("The channel map of a link is the one set by the central's host")
    func channelMap() {
        var bench = Bench()
        bench.connect()
        #expect(
            bench.answer(to: "01 15 20 02 40 00", from: bench.peripheral) == "04 0E 0B 01 15 20 00 40 00 FF FF FF FF 1F"
        )
        bench.prepare(bench.central, LESetHostChannelClassification(channelMap: LEChannelMap(rawValue: 0xFF)))
        #expect(
            bench.answer(to: "01 15 20 02 40 00", from: bench.peripheral) == "04 0E 0B 01 15 20 00 40 00 FF 00 00 00 00"
        )
    }
}
