import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import TestSupport
import Testing

/// Packets as they are, as they should not be, and at times when they should not come.
@Suite("A controller that sends arbitrary packets")
struct HostFuzzTests {
    /// H1 to H9, L1 to L8, A1 to A16 and S1 in any order: 200 000 packets.
    @Test(
        "With arbitrary packets and calls, everything that starts ends exactly once, and no timer remains",
        arguments: UInt64(1)...20)
    func anything(_ seed: UInt64) throws {
        var fuzzer = Fuzzer(seed: seed)
        for _ in 0..<10_000 {
            fuzzer.step()
            #expect(fuzzer.controller.host.outbox.isEmpty)
        }
        fuzzer.finish()
        #expect(fuzzer.ledger.faults == [])
        #expect(fuzzer.ledger.open.isEmpty, "\(fuzzer.ledger.open)")
        #expect(fuzzer.ledger.endCount > 100, "the host was kept busy")
        #expect(fuzzer.controller.host.nextDeadline == nil)
        #expect(!fuzzer.controller.isStuck)
    }

    static let templates: [[UInt8]] = [
        "043E 13 01 00 4000 00 00 0100 00EEFFC0 1800 0000 9001 00",
        "043E 13 01 00 4100 01 00 0200 00EEFFC0 1800 0000 9001 00",
        "043E 13 01 3E 4000 00 00 0100 00EEFFC0 1800 0000 9001 00",
        "043E 1F 0A 00 4200 00 00 0300 00EEFFC0 000000000000 000000000000 1800 0000 9001 00",
        "043E 0C 04 00 4000 0100000000000000", "043E 0C 04 00 4100 0100000000000000",
        "043E 0A 03 00 4000 5000 0000 9001", "043E 0B 06 4000 5000 5000 0000 9001",
        "043E 0D 05 4000 0000000000000000 0000", "043E 0F 02 01 00 00 0100 00EEFFC0 03 020106 D8",
        "0405 04 00 4000 13", "0405 04 00 4100 3E", "0405 04 00 4200 08", "0413 05 01 4000 0100",
        "0413 09 02 4000 0200 4100 FFFF", "040F 04 00 01 0D20", "040E 04 01 0C20 00", "040E 07 01 0514 00 4000 D8",
        "0408 04 00 4000 01", "041A 01 01",
    ].map(bytes)

    /// What may stand in a frame on channel 4, 5 or 6.
    static let payloads: [(channel: UInt8, [UInt8])] =
        [
            "02 0002", "03 0002", "0A 0300", "0C 0300 0000", "08 0100 FFFF 0328", "10 0100 FFFF 0028", "04 0100 FFFF",
            "06 0100 FFFF 0028 0018", "12 0300 01", "52 0300 01", "16 0300 0000 01", "18 01", "1B 1000 01",
            "1D 1000 01",
            "1E", "01 0A 0300 0A", "0B 0102", "11 06 0100 0500 0018", "09 07 0200 02 0300 002A", "05 01 0400 0229",
            "13", "BF", "FF", "23 1000 0100 07", "0E 0300 0500", "20 0300 0500", "D2 0300 000102030405060708090A0B",
        ].map { (4, bytes($0)) }
        + [
            "12 01 0800 1800 2800 0000 C800", "13 01 0200 0000", "01 01 0200 0000", "55 01 0000", "14 01 0A00",
            "06 01 0400 4000 4000",
        ].map { (5, bytes($0)) } + ["01 03 00 01 10 00 00", "0B 01", "05 05"].map { (6, bytes($0)) }
}

/// Drives a host with packets and calls, at random, and keeps account of the calls.
struct Fuzzer {
    var controller: ScriptedController
    var ledger = Ledger()
    private var generator: SeededGenerator
    private var links: [LinkIdentifier] = []

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        controller = ScriptedController { $0.maximumLinks = 3 }
        controller.disturbance = SeededGenerator(seed: seed &+ 1000)
        controller.start()
        drain()
    }

    mutating func step() {
        switch Int.random(in: 0..<20, using: &generator) {
        case 0...2: call()
        case 3: controller.run(for: .milliseconds(Int.random(in: 0..<300, using: &generator)))
        default: controller.receive(packet())
        }
        if controller.host.controller == nil, controller.host.nextDeadline == nil { controller.start() }
        drain()
    }

    /// Takes the controller away, and whatever waits for it.
    mutating func finish() {
        controller.host.controllerLost(at: controller.now)
        drain()
    }

    private mutating func drain() {
        controller.settle()
        for seen in controller.seen {
            ledger.take(seen.event)
            switch seen.event {
            case .link(let link, .connected): links.append(link)
            case .link(let link, .disconnected): links.removeAll { $0 == link }
            default: break
            }
        }
        controller.seen.removeAll()
        controller.commands.removeAll()
        controller.data.removeAll()
    }

    // MARK: - Packets

    private mutating func packet() -> [UInt8] {
        if generator.oneIn(2000) { return bytes("0410 01 05") }
        var packet = anyPacket()
        // An event of another length than it says resets the controller, which is to happen now and then.
        if packet[0] == 4, packet.count > 2, !generator.oneIn(1000) {
            packet[2] = UInt8(truncatingIfNeeded: packet.count - 3)
        }
        return packet
    }

    private mutating func anyPacket() -> [UInt8] {
        var packet: [UInt8]
        switch Int.random(in: 0..<10, using: &generator) {
        case 0...4: packet = dataPacket()
        case 5...8:
            packet = HostFuzzTests.templates[Int.random(in: 0..<HostFuzzTests.templates.count, using: &generator)]
        default:
            let type: UInt8 = Bool.random(using: &generator) ? 2 : 4
            return [type] + generator.bytes(Int.random(in: 0..<40, using: &generator))
        }
        if generator.oneIn(3) { mutate(&packet) }
        return packet
    }

    private mutating func dataPacket() -> [UInt8] {
        let index = Int.random(in: 0..<HostFuzzTests.payloads.count, using: &generator)
        var (channel, payload) = HostFuzzTests.payloads[index]
        if generator.oneIn(4) { mutate(&payload, from: 0) }
        let whole = frame(payload, on: channel)
        let cut = generator.oneIn(5) ? Int.random(in: 0...whole.count, using: &generator) : whole.count
        let isFirst = !generator.oneIn(5)
        let handle = UInt8.random(in: 0x40...0x43, using: &generator)
        return [2, handle, isFirst ? 0x20 : 0x10, UInt8(cut), 0] + whole[..<cut]
    }

    /// Changes some octets, and the length at times, but never the H4 indicator: that is a transport's fault.
    private mutating func mutate(_ packet: inout [UInt8], from start: Int = 1) {
        for _ in 0...Int.random(in: 0..<3, using: &generator) where packet.count > start {
            let index = Int.random(in: start..<packet.count, using: &generator)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: packet[index] = .random(in: .min ... .max, using: &generator)
            case 1: packet[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 2: packet.removeSubrange(index...)
            case 3: packet.insert(contentsOf: generator.bytes(Int.random(in: 1..<8, using: &generator)), at: index)
            default: packet[index] = Bool.random(using: &generator) ? 0xFF : 0
            }
        }
    }

    // MARK: - Calls

    private mutating func call() {
        let now = controller.now
        switch Int.random(in: 0..<11, using: &generator) {
        case 0: try? controller.host.startScanning(ScanParameters(isActive: .random(using: &generator)), at: now)
        case 1: controller.host.stopScanning(at: now)
        case 2: try? controller.host.startAdvertising(AdvertisingParameters(data: []), at: now)
        case 3: controller.host.stopAdvertising(at: now)
        case 4, 5:
            let peer = DeviceAddress(
                0xC0FF_EE00_0000 | UInt64.random(in: 1...5, using: &generator), kind: .public)
            let timeout: Duration? = Bool.random(using: &generator) ? .seconds(3) : nil
            if let attempt = try? controller.host.connect(to: PeerID(peer), timeout: timeout, at: now) {
                ledger.start(.attempt(attempt))
            }
        case 6:
            guard let attempt = ledger.attempts.randomElement(using: &generator) else { return }
            controller.host.cancelConnecting(attempt, at: now)
        default:
            guard let link = links.randomElement(using: &generator) else { return }
            callOnLink(link)
        }
        drain()
    }

    private mutating func callOnLink(_ link: LinkIdentifier) {
        let now = controller.now
        switch Int.random(in: 0..<12, using: &generator) {
        case 0: try? controller.host.disconnect(link, at: now)
        case 1:
            if let request = try? controller.host.readRSSI(of: link, at: now) { ledger.start(.request(request)) }
        case 2:
            let parameters = controller.host.configuration.connectionParameters
            if let request = try? controller.host.updateParameters(parameters, of: link, at: now) {
                ledger.start(.request(request))
            }
        case 3:
            guard let (link, operation) = ledger.operations.randomElement(using: &generator) else { return }
            controller.host.cancel(operation, on: link)
        case 4: _ = try? controller.host.writeWithoutResponse([1, 2, 3].span, to: 3, on: link)
        default:
            let operations: [GATTClientOperation] = [
                .discoverAll(includes: true), .read(3), .readLong(3), .write(3, [1]), .exchangeMTU(clientRxMTU: 100),
                .writeLong(3, [UInt8](repeating: 1, count: 100)), .write(3, [UInt8](repeating: 1, count: 1000)),
                .readByUUID("2A00"), .readMultiple([3, 5]), .discoverPrimaryServices(uuid: "1800"),
            ]
            let index = Int.random(in: 0..<operations.count, using: &generator)
            if let operation = try? controller.host.start(operations[index], on: link, at: now) {
                ledger.start(.operation(link, operation))
            }
        }
    }
}
