import BluetoothAdapter
import Testing

@Suite("Credits to send")
struct SendLeaseTests {
    @Test("are taken as they were added, all that are asked for or none")
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

    @Test("wake who found too few, once, and nobody else")
    func waking() {
        let lease = SendLease()
        #expect(!lease.add(1), "nobody waits")
        #expect(lease.take() && !lease.take() && !lease.take())
        #expect(lease.add(1))
        #expect(!lease.add(1), "it has been woken")
        #expect(lease.take(2) && !lease.isAvailable)
        #expect(lease.add(1), "to ask is to wait")
    }

    @Test("wake nobody before there are as many as are worth it")
    func threshold() {
        let lease = SendLease()
        #expect(!lease.take())
        #expect(!lease.add(2, wakingAt: 4))
        #expect(lease.take(), "what there is may be taken all the same")
        #expect(!lease.add(2, wakingAt: 4))
        #expect(lease.add(1, wakingAt: 4))
        #expect(!lease.add(4, wakingAt: 4))
    }

    @Test("may be owed, up to a limit, and the sender is woken once the debt is paid and it can send several")
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

    @Test("are gone with the link, and who waits for one is told")
    func closing() {
        let lease = SendLease()
        #expect(lease.add(2) == false && !lease.isClosed)
        #expect(lease.close() == (false, 2), "nobody waits")
        #expect(lease.isClosed && !lease.take() && !lease.isAvailable)
        _ = lease.add(1)
        #expect(!lease.take())
        let awaited = SendLease()
        #expect(!awaited.take())
        #expect(awaited.close() == (true, 0))
    }
}
