import BluetoothAdapter
import Testing

@Suite("Credits to send")
struct SendLeaseTests {
    @Test("credits are taken in full or not at all")
    func taken() {
        let lease = SendLease()
        #expect(!lease.take())
        #expect(lease.add(3))
        #expect(lease.take(2))
        #expect(!lease.take(2))
        #expect(lease.isAvailable)
        #expect(lease.take())
        #expect(!lease.isAvailable)
    }

    @Test("added credits wake a sender that found too few, once, and nobody else")
    func waking() {
        let lease = SendLease()
        #expect(!lease.add(1), "nobody waits")
        #expect(lease.take() && !lease.take() && !lease.take())
        #expect(lease.add(1))
        #expect(!lease.add(1), "it has been woken")
        #expect(lease.take(2) && !lease.isAvailable)
        #expect(lease.add(1), "to ask is to wait")
    }

    @Test("added credits wake nobody below the threshold")
    func threshold() {
        let lease = SendLease()
        #expect(!lease.take())
        #expect(!lease.add(2, wakingAt: 4))
        #expect(lease.take(), "what there is may be taken all the same")
        #expect(!lease.add(2, wakingAt: 4))
        #expect(lease.add(1, wakingAt: 4))
        #expect(!lease.add(4, wakingAt: 4))
    }

    @Test("credits can be owed up to a limit, and the sender wakes once the debt is paid and it can send several")
    func owing() {
        let lease = SendLease()
        #expect(!lease.add(1))
        #expect(lease.take(owing: 2), "this one is there")
        #expect(lease.take(owing: 2) && lease.take(owing: 2))
        #expect(lease.count == -2 && !lease.isAvailable && !lease.take())
        #expect(!lease.take(owing: 2), "no more may be owed")
        #expect(!lease.add(2, wakingAt: 2), "the debt is paid, and no more")
        #expect(lease.add(2, wakingAt: 2))
        #expect(lease.count == 2)
        lease.close()
        #expect(!lease.take(owing: 2))
    }

    @Test("closing removes the credits and reports whether a sender waits")
    func closing() {
        let lease = SendLease()
        #expect(lease.add(2) == false && !lease.isClosed)
        #expect(lease.close() == (false, 2), "nobody waits")
        #expect(lease.isClosed && !lease.take() && !lease.isAvailable)
        _ = lease.add(1)
        #expect(!lease.take() && !lease.isAvailable && lease.count == 0)
        let awaited = SendLease()
        #expect(!awaited.take())
        #expect(awaited.close() == (true, 0))
    }
}
