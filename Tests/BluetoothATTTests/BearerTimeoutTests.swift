import BluetoothATT
import BluetoothBase
import Testing

private let start = Instant(nanoseconds: 1_000)
private func after(_ duration: Duration) -> Instant { start.advanced(by: duration) }

struct BearerTimeoutTests {
    @Test func `A6: an unanswered request ends the bearer after 30 seconds, not before`() throws {
        var bearer = ATTBearer()
        try bearer.beginRequest(.readRequest, at: start)
        #expect(bearer.nextDeadline == after(.seconds(30)))
        #expect(bearer.fire(at: after(.seconds(30) - .nanoseconds(1))) == nil)
        #expect(!bearer.isDead)
        #expect(bearer.fire(at: after(.seconds(30))) == .request(.readRequest))
        #expect(bearer.isDead)
        #expect(bearer.nextDeadline == nil)
        #expect(bearer.fire(at: after(.seconds(99))) == nil)
    }

    @Test func `an unconfirmed indication ends the bearer after 30 seconds`() throws {
        var bearer = ATTBearer()
        try bearer.beginIndication(at: start)
        #expect(bearer.fire(at: after(.seconds(30))) == .indication)
        #expect(bearer.isDead)
    }

    @Test func `with a request and an indication pending, the bearer times out at the earlier deadline`() throws {
        var bearer = ATTBearer()
        try bearer.beginIndication(at: start)
        try bearer.beginRequest(.writeRequest, at: after(.seconds(10)))
        #expect(bearer.nextDeadline == after(.seconds(30)))
        #expect(bearer.fire(at: after(.seconds(30))) == .indication)
        #expect(bearer.requestInFlight == nil)
    }

    @Test func `an answer in time clears the deadline`() throws {
        var bearer = ATTBearer()
        try bearer.beginRequest(.readRequest, at: start)
        #expect(bearer.completeRequest(with: .readResponse) == .readRequest)
        #expect(bearer.fire(at: after(.seconds(60))) == nil)
        #expect(!bearer.isDead)
    }

    @Test func `A6: a dead bearer rejects new requests and indications, and ignores a late response`() throws {
        var bearer = ATTBearer()
        try bearer.beginRequest(.readRequest, at: start)
        #expect(bearer.fire(at: after(.seconds(30))) != nil)
        #expect(bearer.completeRequest(with: .readResponse) == nil)
        #expect(throws: ATTBearer.Refusal.dead) { try bearer.beginRequest(.readRequest, at: after(.seconds(31))) }
        #expect(throws: ATTBearer.Refusal.dead) { try bearer.beginIndication(at: after(.seconds(31))) }
        #expect(!bearer.isReadyForRequest)
        #expect(!bearer.isReadyForIndication)
        #expect(bearer.nextDeadline == nil)
    }

    @Test func `a deadline beyond the largest Instant is clamped to it`() throws {
        var bearer = ATTBearer()
        try bearer.beginRequest(.readRequest, at: Instant(nanoseconds: .max))
        #expect(bearer.nextDeadline == Instant(nanoseconds: .max))
    }
}
