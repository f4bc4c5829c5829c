import BluetoothBase
import BluetoothSMP
import Testing

/// The Security Manager Timer (Core 5.4, Vol 3, Part H, 3.4): SM/CEN/PROT/BV-01, SM/PER/PROT/BV-02.
struct TimeoutTests {
    @Test(arguments: DisorderTests.scenarios, LinkRole.allCases)
    func `A pairing times out for good 30 seconds after the last PDU, in every state`(
        _ scenario: DisorderTests.Scenario, _ role: LinkRole
    ) throws {
        var couple = scenario.couple()
        couple.pair()
        let inputs = try #require(couple.inputs[role])
        for count in 1..<inputs.count {
            var side = scenario.couple()[role]
            var now = Instant.zero
            for input in inputs[..<count] {
                now = now.advanced(by: .seconds(9))
                side.sends(after: input, at: now)
            }
            let deadline = try #require(side.pairing.nextDeadline)
            #expect(deadline > now)
            if inputs[count - 1].isPDU { #expect(deadline == now.advanced(by: .seconds(30))) }
            #expect(side.pairing.fire(at: deadline.advanced(by: .nanoseconds(-1))).isEmpty)
            var late = side
            #expect(side.pairing.fire(at: deadline) == [.ended(.failure(.timedOut))])
            // What comes in the same moment, and before anybody has called `fire`, is too late as well.
            #expect(late.apply(inputs[count], at: deadline) == [.ended(.failure(.timedOut))])
            expectDead(&side, at: deadline)
            expectDead(&late, at: deadline)
        }
    }

    func expectDead(_ side: inout PairingSide, at now: Instant) {
        #expect(side.pairing.nextDeadline == nil && !side.pairing.isUnderWay)
        for octets in [RobustnessTests.request, RobustnessTests.response, [0xFF], [0x01], [0x0B, 0x01], [0x05, 0x08]] {
            #expect(side.apply(.pdu(octets), at: now).isEmpty)
        }
        #expect(side.apply(.encryption(status: 0), at: now).isEmpty)
        #expect(side.apply(.answer(.accept()), at: now).isEmpty)
        #expect(side.pairing.pressKey(.digitEntered, at: now).isEmpty)
        #expect(side.pairing.cancel().isEmpty)
        #expect(side.pairing.key(encryptedDiversifier: 0, random: 0) == nil)
        #expect(side.apply(.begin, at: now) == [.ended(.failure(.timedOut))])
        #expect(side.pairing.linkEnded().isEmpty)
    }

    @Test func `An unanswered Security Request times out after 30 seconds`() {
        var side = PairingSide(.peripheral)
        #expect(side.sends(after: .begin) == [[0x0B, 0x09]])
        #expect(side.pairing.nextDeadline == Instant.zero.advanced(by: .seconds(30)))
        #expect(side.pairing.fire(at: Instant.zero.advanced(by: .seconds(30))) == [.ended(.failure(.timedOut))])
    }

    @Test(arguments: LinkRole.allCases)
    func `Disconnection, cancellation or the peer's failure ends the pairing in every state`(_ role: LinkRole) throws {
        for scenario in DisorderTests.scenarios {
            var couple = scenario.couple()
            couple.pair()
            let inputs = try #require(couple.inputs[role])
            for count in 1..<inputs.count {
                var side = scenario.couple()[role]
                for input in inputs[..<count] { side.sends(after: input) }
                var copy = side
                #expect(side.pairing.linkEnded() == [.ended(.failure(.disconnected))])
                let effects = copy.pairing.cancel()
                #expect(effects.last == .ended(.failure(.cancelled)))
                guard case .send(.pairingFailed)? = effects.first else {
                    Issue.record("the peer was not notified")
                    continue
                }
                var failed = scenario.couple()[role]
                for input in inputs[..<count] { failed.sends(after: input) }
                failed.sends(after: .pdu([0x05, 0x08]))
                #expect(failed.error == .peer(.unspecifiedReason))
                #expect(side.pairing.key(encryptedDiversifier: 0, random: 0) == nil)
                #expect(failed.pairing.key(encryptedDiversifier: 0, random: 0) == nil)
            }
        }
    }
}
