import BluetoothBase
import BluetoothSMP
import Testing

/// An attempt of this device with a peer that has failed to authenticate itself a moment ago (Core 5.4, Vol 3, Part H,
/// 2.3.6).
struct BackOffTests {
    /// A device that begins to pair just after the passkey was wrong, and waits.
    private func waiting(_ role: LinkRole) -> PairingSide {
        var couple = PairingCouple(PairingParameters(ioCapability: .keyboardOnly, requiresAuthentication: true))
        couple.central.entersInstead = 1
        couple.peripheral.entersInstead = 2
        couple.pair()
        var side = couple[role]
        side.outcome = nil
        #expect(side.sends(after: .begin, at: couple.now).isEmpty)
        #expect(side.outcome == nil && side.pairing.isUnderWay)
        return side
    }

    @Test(arguments: LinkRole.allCases)
    func `A delayed attempt is sent when the wait is over`(_ role: LinkRole) throws {
        var side = waiting(role)
        let end = try #require(side.pairing.nextDeadline)
        #expect(side.pairing.fire(at: end.advanced(by: .nanoseconds(-1))).isEmpty)
        let effects = side.pairing.fire(at: end)
        switch (role, effects.first) {
        case (.central, .send(.pairingRequest)), (.peripheral, .send(.securityRequest)): break
        default: Issue.record("\(effects)")
        }
        #expect(effects.count == 1)
        #expect(side.pairing.nextDeadline == end.advanced(by: .seconds(30)), "the Security Manager Timer")
    }

    @Test(arguments: LinkRole.allCases)
    func `The peer cannot end a delayed attempt`(_ role: LinkRole) throws {
        var side = waiting(role)
        let end = try #require(side.pairing.nextDeadline)
        let now = end.advanced(by: .milliseconds(-600))
        #expect(side.sends(after: .pdu([0x05, 0x08]), at: now).isEmpty)
        #expect(side.sends(after: .pdu([0xFF]), at: now) == [[0x05, 0x07]])
        let reason: UInt8 = role == .central ? 0x07 : 0x09
        #expect(side.sends(after: .pdu(RobustnessTests.request), at: now) == [[0x05, reason]])
        if role == .central { #expect(side.sends(after: .pdu([0x0B, 0x01]), at: now).isEmpty) }
        #expect(side.sends(after: .answer(.accept()), at: now).isEmpty)
        #expect(side.outcome == nil && side.questions.isEmpty && side.securityRequests.isEmpty)
        #expect(side.pairing.nextDeadline == end)
    }

    @Test func `A Pairing Request during the wait replaces the delayed Security Request`() throws {
        var side = waiting(.peripheral)
        let end = try #require(side.pairing.nextDeadline)
        side.sends(after: .pdu(RobustnessTests.request), at: end.advanced(by: .milliseconds(-500)))
        #expect(side.questions.count == 1)
        #expect(side.sends(after: .answer(.refuse), at: end) == [[0x05, 0x05]])
        #expect(side.error == .local(.pairingNotSupported))
    }

    @Test(arguments: LinkRole.allCases)
    func `Encryption during the wait ends a peripheral's attempt, but not a central's`(_ role: LinkRole) {
        var side = waiting(role)
        side.sends(after: .encryption(status: 6))
        #expect(side.outcome == nil)
        side.sends(after: .encryption(status: 0))
        #expect(side.error == (role == .peripheral ? .encryptedWithKnownKey : nil))
    }

    @Test(arguments: LinkRole.allCases)
    func `Cancellation or disconnection ends a delayed attempt, and nothing is sent`(_ role: LinkRole) {
        var side = waiting(role)
        var copy = side
        #expect(side.pairing.cancel() == [.ended(.failure(.cancelled))])
        #expect(copy.pairing.linkEnded() == [.ended(.failure(.disconnected))])
        #expect(side.pairing.nextDeadline == nil && copy.pairing.nextDeadline == nil)
    }
}
