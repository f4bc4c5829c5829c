import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothSimulation

/// Each line is a packet between a host and its controller, `>` to the controller, `<` to the host.
@Suite("Rules that every host must follow")
struct InspectorTests {
    private static let connected = ["< 043E1301004000000006050403020118000000 C80001"]
    private static let request = "> 0240200700030004000A0300"

    /// A controller with two buffers of 27 octets.
    private func inspect(_ lines: [String]) -> [Violation.Rule] {
        var inspector = HCIInspector(bufferCount: 2, bufferLength: 27)
        return lines.compactMap { line in
            let packet = bytes(String(line.dropFirst(2)))
            inspector.beginTurn()
            return line.hasPrefix(">") ? inspector.sent(packet.span)?.rule : inspector.received(packet.span)?.rule
        }
    }

    @Test(
        "Rules for commands",
        arguments: [
            (["> 01030C00", "< 040E0401030C00", "> 01011000"], []),
            (["> 01030C00", "> 01011000"], [.commandCredit]),
            (["> 01030C00", "< 040E0402030C00", "> 01011000", "> 01021000", "> 01031000"], [.commandCredit]),
            (["> 01030C00", "< 040E0400030C00", "> 01011000"], [.commandCredit]),
            // Credits without an answer, and a command that takes none.
            (["> 01030C00", "< 040E0400030C00", "< 040E03010000", "> 01011000", "> 01350C00"], []),
            (["> 01030C00", "< 040E0401030C01"], [.unknownCommand]),
            (["> 01030C00", "< 040E0401030C12"], [.wellFormed]),
            (["> 040E00AA"], [.unknownCommand]),
        ] as [([String], [Violation.Rule])])
    func commands(_ lines: [String], _ rules: [Violation.Rule]) { #expect(inspect(lines) == rules) }

    @Test(
        "Rules for data",
        arguments: [
            (["> 0240000500010004000E"], [.dataBuffers]),
            (connected + [request, request.replacing("0A03", with: "5203")], []),
            (connected + [request, "> 0240000500010004001E"], [.oneIndication]),
            (connected + [request, request], [.oneRequest]),
            (connected + [request, "< 0240200500010004000B", request], []),
            // What answers another request answers none, and an error that which it names.
            (connected + [request, "< 02402005000100040013", request], [.oneRequest]),
            (connected + [request, "< 0240200900050004000112030003", request], [.oneRequest]),
            (connected + [request, "< 024020090005000400010A030003", request], []),
            // A peer that breaks the rules may answer what still waits in the host.
            (
                connected + ["< 0240200500010004000B", request, request, "< 0413050140000100", request],
                [.oneRequest]
            ),
            (
                connected + [request, "< 0413050140000100", "> 024010010000", "> 024010010000", "> 024010010000"],
                [.dataBuffers]
            ),
            (connected + ["> 0240001C00" + String(repeating: "00", count: 28)], [.dataBuffers]),
            (connected + ["> 0240000500010004000B"], [.oneRequest]),
            (connected + ["< 0240200700030004000A0300", "> 0240000500010004000B"], []),
            (connected + ["< 0240200700030004000A0300", "> 02400005000100040013"], [.oneRequest]),
            (connected + ["< 0240200700030004000A0300", "> 024000090005000400010A03000A"], []),
            // Two confirmations at once, a request without its handle, and an opcode that there is not.
            (connected + ["< 0240200700030004001D0300", "> 0240000600020004001E1E"], [.wellFormed]),
            (connected + ["> 0240000500010004000A"], [.wellFormed]),
            (connected + ["> 0240000500010004002D"], [.wellFormed]),
            (
                connected + ["< 0240200700030004001D0300", "> 0240000500010004001E", "> 0240000500010004001E"],
                [.oneIndication]
            ),
            (connected + ["> 0240001B00180004001B" + String(repeating: "00", count: 22)], [.mtu]),
            (connected + ["< 04050400400013", request], [.dataBuffers]),
        ] as [([String], [Violation.Rule])])
    func data(_ lines: [String], _ rules: [Violation.Rule]) {
        #expect(inspect(lines.map { $0.prefix(2) + $0.dropFirst(2).filter { $0 != " " } }) == rules)
    }
}

@Suite("Confirmed indications")
struct ConfirmedIndicationTests {
    private static let value = SimulatedValue(.stream, station: 1, stream: 7, number: 3)
    private static let connected = bytes("043E1301004000000006050403020118000000C80001")
    private static let confirmation = bytes("0240200500010004001E")

    /// The packet with an indication of a value.
    private static func indication(_ value: SimulatedValue) -> [UInt8] {
        bytes("02400015001100") + [4, 0] + bytes("1D0300") + value.bytes(count: 14)
    }

    @Test("A value counts as confirmed once its confirmation has arrived, and not before")
    func confirmed() {
        var inspector = HCIInspector(bufferCount: 2, bufferLength: 27)
        let place = SimulatedValue.Place(Self.value)
        _ = inspector.received(Self.connected.span)
        #expect(inspector.sent(Self.indication(Self.value).span)?.rule == nil)
        #expect(!inspector.isConfirmed(place))
        inspector.beginTurn()
        _ = inspector.received(Self.confirmation.span)
        #expect(inspector.isConfirmed(place))
        // The next one waits for its own.
        var next = Self.value
        next.number += 1
        _ = inspector.sent(Self.indication(next).span)
        #expect(!inspector.isConfirmed(SimulatedValue.Place(next)))
        #expect(inspector.isConfirmed(place))
    }
}

@Suite("The owners of random addresses")
struct PrivateAddressTests {
    @Test("An address belongs to the station that set it, even after the station has set another one")
    func owners() {
        var addresses = PrivateAddresses()
        addresses.sent(bytes("01052006010203040546").span, from: 2)
        addresses.sent(bytes("01052006111213141556").span, from: 2)
        // Another command, and one that was cut.
        addresses.sent(bytes("01062006212223242566").span, from: 1)
        addresses.sent(bytes("010520062122232425").span, from: 1)
        #expect(addresses.owner(of: DeviceAddress(0x46_0504_0302_01, kind: .random)) == 2)
        #expect(addresses.current(of: 2) == DeviceAddress(0x56_1514_1312_11, kind: .random))
        #expect(addresses.owner(of: DeviceAddress(0x66_2524_2322_21, kind: .random)) == nil)
        #expect(addresses.current(of: 1) == nil)
    }
}

@Suite("Advertising after short-lived links")
struct AdvertisingPaceTests {
    /// Packets, each with its time in milliseconds.
    private func isTooSoon(_ lines: [(Int, String)]) -> [Int] {
        var pace = AdvertisingPace()
        return lines.compactMap { time, line in
            let packet = bytes(String(line.dropFirst(2))), now = Instant.zero.advanced(by: .milliseconds(time))
            if line.hasPrefix(">") { return pace.sent(packet.span, at: now) ? nil : time }
            pace.received(packet.span, at: now)
            return nil
        }
    }

    /// A peer connects and leaves 2 ms later.
    private func visit(_ time: Int) -> [(Int, String)] {
        [
            (time, "< 043E1301004000010006050403020118000000C80001"), (time + 2, "< 0405040040" + "0013"),
        ]
    }

    private static let parameters = "> 0106200F" + String(repeating: "00", count: 15)
    private static let answered = "< 040E0401062000"
    private static let other = "> 01162004" + "00000000", otherAnswered = "< 040F0400011620"

    @Test("Advertising must back off, except if the command was already queued behind others")
    func behindOthers() {
        let visits = visit(1_000) + visit(1_100) + visit(1_200)
        #expect(isTooSoon(visits + [(1_280, Self.parameters)]) == [1_280])
        #expect(isTooSoon(visits + [(1_400, Self.parameters)]) == [])
        // A command is with the controller when the link ends, and the next one follows its answer at once.
        let busy = visit(1_000) + visit(1_100) + [(1_199, Self.other)] + visit(1_200)
        #expect(isTooSoon(busy + [(1_280, Self.otherAnswered), (1_280, Self.parameters)]) == [])
        #expect(isTooSoon(busy + [(1_270, Self.otherAnswered), (1_280, Self.parameters)]) == [1_280])
    }
}

@Suite("The order of values")
struct StreamOrderTests {
    @Test(
        "A missing, repeated or late value is reported",
        arguments: [
            ([1, 2, 3], []), ([4, 5], []), ([1, 3], [.valueMissing]), ([1, 1], [.valueOrder]),
            ([2, 1, 2], [.valueOrder]),
        ] as [([UInt32], [Violation.Rule])])
    func order(_ numbers: [UInt32], _ rules: [Violation.Rule]) {
        var order = StreamOrder()
        let found = numbers.compactMap { number in
            order.take(SimulatedValue(.stream, station: 0, stream: 1, number: number), mayMiss: false)?.rule
        }
        #expect(found == rules)
    }

    @Test("Values may be missing after a reported loss, or if the sender discarded them")
    func losses() {
        var order = StreamOrder()
        func take(_ number: UInt32, mayMiss: Bool = false) -> Violation.Rule? {
            order.take(SimulatedValue(.stream, station: 0, stream: 1, number: number), mayMiss: mayMiss)?.rule
        }
        #expect(take(1) == nil)
        order.noteLoss()
        #expect(order.last(of: 1) == nil)
        #expect(take(5) == nil)
        #expect(take(7) == .valueMissing)
        #expect(take(9, mayMiss: true) == nil)
    }

    @Test("A loss may have affected every stream, whichever continues first")
    func lossesOfSeveralStreams() {
        var order = StreamOrder()
        func take(_ stream: UInt32, _ number: UInt32) -> Violation.Rule? {
            order.take(SimulatedValue(.stream, station: 0, stream: stream, number: number), mayMiss: false)?.rule
        }
        #expect(take(1, 1) == nil && take(2, 1) == nil)
        order.noteLoss()
        #expect(take(1, 3) == nil && take(2, 4) == nil)
        #expect(order.last(of: 1) == 3 && order.last(of: 2) == 4)
        #expect(take(1, 5) == .valueMissing && take(2, 6) == .valueMissing)
    }

    @Test("A value identifies its source, and reveals any change", arguments: [10, 11, 20, 244])
    func values(_ count: Int) {
        let value = SimulatedValue(.stream, station: 3, stream: 0x0102_0304, number: 77)
        let octets = value.bytes(count: count)
        #expect(octets.count == count)
        #expect(SimulatedValue(octets.span) == value)
        for index in SimulatedValue.leastCount..<count {
            var changed = octets
            changed[index] ^= 1
            #expect(SimulatedValue(changed.span) == nil)
        }
        #expect(SimulatedCard.isWhole(SimulatedCard.bytes(9, count: count)))
        #expect(!SimulatedCard.isWhole(Array(SimulatedCard.bytes(9, count: count).dropLast())))
    }
}

/// As above, for what concerns keys and encryption. The peer is 06:05:04:03:02:01, the key of whose bond is 1 for EDIV
/// 2 and Rand 3.
@Suite("Rules for keys and encryption")
struct SecurityInspectorTests {
    private static let connected = ["< 043E1301004000000006050403020118000000 C80001"]
    private static let encrypted = ["< 04080400400001"]
    private static let lockedValue = "> 0240200F000B0004000B A300000000000000 00 00"
    private static let keyRequest = "< 043E0D05400003000000000000000200"
    private static let key = "> 011A20124000 01000000000000000000000000000000"
    private static let otherKey = "> 011A20124000 02000000000000000000000000000000"

    private func inspect(_ lines: [String], isKeyUnderWay: Bool = false) -> [Violation.Rule] {
        let inspector = SecurityInspector(
            report: { _ in }, bondedKey: { $1 == 2 && $2 == 3 ? 1 : nil }, isKeyUnderWay: { isKeyUnderWay },
            isLocked: { $0[0] == 0xA3 })
        return lines.compactMap { line in
            let packet = bytes(String(line.dropFirst(2)))
            inspector.beginTurn()
            if line.hasPrefix(">") { return inspector.sent(packet.span)?.rule }
            inspector.received(packet.span)
            return nil
        }
    }

    @Test(
        "Protected values need encryption, and keys must match the bond",
        arguments: [
            (connected + [lockedValue], [.protection]),
            (connected + encrypted + [lockedValue], []),
            (connected + ["< 04080400400000", lockedValue], [.protection]),
            (connected + [keyRequest, key], []),
            (connected + [keyRequest, otherKey], [.bond]),
            (connected + [key], [.bond]),
            // A key without a name: the controllers compare it.
            (connected + ["< 043E0D05400000000000000000000000", otherKey], []),
        ] as [([String], [Violation.Rule])])
    func valuesAndKeys(_ lines: [String], _ rules: [Violation.Rule]) { #expect(inspect(lines) == rules) }

    @Test("A key unknown to the store may be used only while a bond is being stored")
    func keysUnderWay() {
        let requestOfNewKey = "< 043E0D05400004000000000000000200"
        #expect(inspect(Self.connected + [requestOfNewKey, Self.otherKey]) == [.bond])
        #expect(inspect(Self.connected + [requestOfNewKey, Self.otherKey], isKeyUnderWay: true) == [])
        #expect(inspect(Self.connected + [Self.keyRequest, Self.otherKey], isKeyUnderWay: true) == [.bond])
    }
}
