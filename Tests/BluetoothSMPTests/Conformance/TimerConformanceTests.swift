import BluetoothBase
import BluetoothSMP
import Testing

/// The Security Manager Timer as the Security Manager test suite asks for it: SM/…/PROT.
@Suite("SM conformance: timer")
struct TimerConformanceTests {
    static let start = Instant(nanoseconds: 5_000_000_000)

    @Test(
        "SM/CEN/PROT/BV-01: an initiator without a Pairing Response times out after 30 seconds, and ignores a late one")
    func initiator() {
        var side = PairingSide(.central)
        #expect(side.sends(after: .begin, at: Self.start).map { $0[0] } == [0x01])
        expectTimeout(&side, from: Self.start, late: RobustnessTests.response)
    }

    @Test(
        """
        SM/PER/PROT/BV-02: a responder whose initiator does not continue after the Pairing Response times out after 30 \
        seconds, and ignores a late PDU
        """, arguments: [false, true])
    func responder(_ secure: Bool) throws {
        var side = PairingSide(.peripheral)
        var request = RobustnessTests.request
        request[3] = secure ? 0x09 : 0x01
        #expect(side.sends(after: .pdu(request), at: Self.start) == [])
        let answered = Self.start.advanced(by: .seconds(7))
        #expect(side.sends(after: .answer(.accept()), at: answered).map { $0[0] } == [0x02])
        let key = try #require(PairingTester.keyPair).publicKey
        let late: SecurityManagerPDU = secure ? .pairingPublicKey(key) : .pairingConfirm(1)
        expectTimeout(&side, from: answered, late: late.octets)
    }

    private func expectTimeout(
        _ side: inout PairingSide, from last: Instant, late: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let deadline = last.advanced(by: .seconds(30))
        #expect(side.pairing.nextDeadline == deadline, sourceLocation: sourceLocation)
        #expect(side.pairing.fire(at: deadline.advanced(by: .nanoseconds(-1))) == [], sourceLocation: sourceLocation)
        #expect(
            side.pairing.fire(at: deadline) == [.ended(.failure(.timedOut))], sourceLocation: sourceLocation)
        // Nothing more is sent over this link.
        let later = deadline.advanced(by: .seconds(10))
        #expect(side.apply(.pdu(late), at: later) == [], sourceLocation: sourceLocation)
        #expect(side.apply(.pdu(RobustnessTests.request), at: later) == [], sourceLocation: sourceLocation)
        #expect(side.apply(.begin, at: later) == [.ended(.failure(.timedOut))], sourceLocation: sourceLocation)
    }
}
