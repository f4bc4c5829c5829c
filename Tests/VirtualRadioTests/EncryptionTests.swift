import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing
import VirtualRadio

@Suite("Encryption")
struct EncryptionTests {
    static let key = "00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F"
    static let otherKey = "FF 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F"
    static let enable = "01 19 20 1C 40 00 11 12 13 14 15 16 17 18 21 22 " + key
    static let reply = "01 1A 20 12 40 00 "
    static let request = "04 3E 0D 05 40 00 11 12 13 14 15 16 17 18 21 22"
    static let changed = "04 08 04 00 40 00 01"

    /// A bench whose peripheral has been asked for the key.
    static func asked() -> Bench {
        var bench = Bench()
        bench.connect()
        #expect(bench.answer(to: enable, from: bench.central) == "04 0F 04 00 01 19 20")
        bench.run(.milliseconds(30))
        #expect(bench.received(by: bench.peripheral) == [request])
        #expect(bench.received(by: bench.central) == [])
        return bench
    }

    static func encrypted() -> Bench {
        var bench = asked()
        bench.send(reply + key, from: bench.peripheral)
        bench.run(.milliseconds(90))
        _ = bench.received(by: bench.central)
        _ = bench.received(by: bench.peripheral)
        return bench
    }

    @Test("With equal keys both hosts are notified that the link is encrypted")
    func equalKeys() {
        var bench = Self.asked()
        #expect(bench.answer(to: Self.reply + Self.key, from: bench.peripheral) == "04 0E 06 01 1A 20 00 40 00")
        bench.run(.milliseconds(90))
        #expect(bench.received(by: bench.central) == [Self.changed])
        #expect(bench.received(by: bench.peripheral) == [Self.changed])
        #expect(bench.air.nextDeadline == nil)
    }

    @Test("Different keys end the link with MIC Failure")
    func differentKeys() {
        var bench = Self.asked()
        bench.send(Self.reply + Self.otherKey, from: bench.peripheral)
        bench.run(.milliseconds(90))
        #expect(bench.received(by: bench.central) == ["04 05 04 00 40 00 3D"])
        #expect(bench.received(by: bench.peripheral).last == "04 05 04 00 40 00 3D")
    }

    @Test("S4: without a key the central's host is notified, and the link continues unencrypted")
    func noKey() {
        var bench = Self.asked()
        #expect(bench.answer(to: "01 1B 20 02 40 00", from: bench.peripheral) == "04 0E 06 01 1B 20 00 40 00")
        bench.run(.milliseconds(90))
        #expect(bench.received(by: bench.central) == ["04 08 04 06 40 00 00"])
        #expect(bench.received(by: bench.peripheral) == [])
        bench.send("02 40 00 01 00 AA", from: bench.central)
        bench.run(.milliseconds(30))
        #expect(bench.received(by: bench.peripheral) == ["02 40 20 01 00 AA"])
    }

    @Test("A host that masked the request counts as having no key")
    func requestMasked() {
        var bench = Bench()
        bench.connect()
        bench.prepare(bench.peripheral, LESetEventMask(eventMask: .connectionComplete))
        bench.send(Self.enable, from: bench.central)
        bench.run(.milliseconds(90))
        #expect(bench.received(by: bench.central) == ["04 0F 04 00 01 19 20", "04 08 04 06 40 00 00"])
    }

    @Test("S18: no data is sent between the start of encryption and its completion")
    func dataWaits() {
        var bench = Self.asked()
        bench.send("02 40 00 01 00 AA", from: bench.central)
        bench.run(.seconds(1))
        #expect(bench.received(by: bench.peripheral) == [])
        bench.send(Self.reply + Self.key, from: bench.peripheral)
        bench.run(.milliseconds(120))
        #expect(
            bench.received(by: bench.peripheral) == [
                "04 0E 06 01 1A 20 00 40 00", Self.changed, "02 40 20 01 00 AA",
            ])
    }

    @Test("A new key for an encrypted link has its own event")
    func refresh() {
        var bench = Self.encrypted()
        bench.send(Self.enable, from: bench.central)
        bench.run(.milliseconds(30))
        bench.send(Self.reply + Self.key, from: bench.peripheral)
        bench.run(.milliseconds(90))
        #expect(bench.received(by: bench.central).last == "04 30 03 00 40 00")
        #expect(bench.received(by: bench.peripheral).last == "04 30 03 00 40 00")
    }

    @Test("A refresh without a key ends the link")
    func refreshWithoutKey() {
        var bench = Self.encrypted()
        bench.send(Self.enable, from: bench.central)
        bench.run(.milliseconds(30))
        bench.send("01 1B 20 02 40 00", from: bench.peripheral)
        bench.run(.milliseconds(90))
        #expect(bench.received(by: bench.central).last == "04 05 04 00 40 00 06")
        #expect(bench.received(by: bench.peripheral).last == "04 05 04 00 40 00 06")
    }

    @Test("Commands at the wrong end, or at the wrong time, are disallowed")
    func disallowed() {
        var bench = Bench()
        bench.connect()
        #expect(bench.answer(to: Self.enable, from: bench.peripheral) == "04 0F 04 0C 01 19 20")
        #expect(bench.answer(to: Self.reply + Self.key, from: bench.peripheral) == "04 0E 06 01 1A 20 0C 40 00")
        #expect(bench.answer(to: Self.reply + Self.key, from: bench.central) == "04 0E 06 01 1A 20 0C 40 00")
        bench.send(Self.enable, from: bench.central)
        bench.run(.milliseconds(30))
        _ = bench.received(by: bench.central)
        #expect(bench.answer(to: Self.enable, from: bench.central) == "04 0F 04 0C 01 19 20")
        bench.send(Self.reply + Self.key, from: bench.peripheral)
        _ = bench.received(by: bench.peripheral)
        #expect(bench.answer(to: Self.reply + Self.key, from: bench.peripheral) == "04 0E 06 01 1A 20 0C 40 00")
        #expect(bench.answer(to: "01 1B 20 02 40 00", from: bench.peripheral) == "04 0E 06 01 1B 20 0C 40 00")
    }

    @Test("A peer without encryption is reported as such")
    func unsupported() {
        var bench = Bench(peripheral: { $0.features.remove(.encryption) })
        bench.connect()
        bench.send(Self.enable, from: bench.central)
        bench.run(.milliseconds(30))
        #expect(bench.received(by: bench.central) == ["04 0F 04 00 01 19 20", "04 08 04 1A 40 00 00"])
    }

    @Test("A host that never answers the key request loses the link after 40 s; one that answers does not")
    func responseTimeout() {
        var bench = Self.asked()
        bench.run(.milliseconds(39_999))
        #expect(bench.received(by: bench.central) == [] && bench.received(by: bench.peripheral) == [])
        bench.run(.milliseconds(1))
        #expect(bench.received(by: bench.central) == ["04 05 04 00 40 00 22"])
        #expect(bench.received(by: bench.peripheral) == ["04 05 04 00 40 00 22"])

        bench = Self.encrypted()
        bench.run(.seconds(60))
        #expect(bench.received(by: bench.central) == [] && bench.air.nextDeadline == nil)
    }
}
