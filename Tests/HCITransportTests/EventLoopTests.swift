import BluetoothBase
import BluetoothPlatform
import CBluetoothHCI
import Testing

@testable import HCITransport

struct EventLoopTests {
    @Test("a ready descriptor is reported with its token, for the events it was registered for")
    func readiness() throws {
        let loop = try EventLoop()
        let (one, other) = try PacketTransport.pair()
        try loop.add(one.fileDescriptor, token: 3, for: .read)
        #expect(loop.wait(until: .zero).isEmpty)

        try other.send(reset)
        #expect(loop.wait(until: nil) == [.init(token: 3, isReadable: true, isWritable: false)])
        // Still to be read: level-triggered.
        #expect(loop.wait(until: nil) == [.init(token: 3, isReadable: true, isWritable: false)])

        try loop.change(one.fileDescriptor, token: 4, to: [.read, .write])
        #expect(loop.wait(until: nil) == [.init(token: 4, isReadable: true, isWritable: true)])
        try one.receive { _ in }
        #expect(loop.wait(until: nil) == [.init(token: 4, isReadable: false, isWritable: true)])

        loop.remove(one.fileDescriptor)
        #expect(loop.wait(until: .zero).isEmpty)
        loop.remove(one.fileDescriptor)
    }

    @Test("a closed peer makes the descriptor readable, whatever it is watched for")
    func hangUp() throws {
        let loop = try EventLoop()
        let (one, other) = try StreamTransport.pair()
        try loop.add(one.fileDescriptor, token: 0, for: [])
        other.close()
        let event = try #require(loop.wait(until: hangGuard()).first)
        #expect(event.isReadable)
    }

    @Test("waking before the wait ends it, once for all earlier wakes")
    func wakesCount() throws {
        let loop = try EventLoop()
        loop.waker.wake()
        loop.waker.wake()
        #expect(loop.wait(until: nil).isEmpty)
        // Had the second been kept, this deadline would not be waited for.
        let deadline = MonotonicClock.now.advanced(by: .milliseconds(2))
        #expect(loop.wait(until: deadline).isEmpty)
        #expect(MonotonicClock.now >= deadline)
    }

    @Test("another thread can end a wait without a deadline")
    func wakesFromThread() throws {
        let loop = try EventLoop()
        let waker = Unmanaged.passRetained(loop.waker)
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Waker>.fromOpaque(argument).takeRetainedValue().wake() }
                return nil
            }, waker.toOpaque())
        #expect(loop.wait(until: nil).isEmpty)
        pthread_join(thread, nil)
    }

    @Test("a waker may be used after its loop is gone")
    func wakerOutlivesLoop() throws {
        let waker: Waker
        do {
            let loop = try EventLoop()
            waker = loop.waker
        }
        waker.wake()
        #expect(fcntl(waker.fileDescriptor, F_GETFD) >= 0)
    }

    @Test("no wait ends before its deadline, in whatever order the deadlines come")
    func deadlines() throws {
        let loop = try EventLoop()
        let start = MonotonicClock.now
        // The second is later than the one set, the third earlier, the fourth long past.
        for milliseconds in [3, 6, 5, 0] {
            let deadline = start.advanced(by: .milliseconds(milliseconds))
            #expect(loop.wait(until: deadline).isEmpty)
            #expect(MonotonicClock.now >= deadline)
        }
    }

    @Test("a deadline that no longer applies does not end a later wait")
    func abandonedDeadline() throws {
        let loop = try EventLoop()
        let start = MonotonicClock.now
        loop.waker.wake()
        #expect(loop.wait(until: start.advanced(by: .milliseconds(2))).isEmpty)
        let deadline = start.advanced(by: .milliseconds(8))
        #expect(loop.wait(until: deadline).isEmpty)
        #expect(MonotonicClock.now >= deadline)
    }

    @Test("a deadline at the end of time can be waited for")
    func farDeadline() throws {
        let loop = try EventLoop()
        loop.waker.wake()
        #expect(loop.wait(until: Instant(nanoseconds: .max)).isEmpty)
    }

    @Test("a descriptor that cannot be watched is an error")
    func unwatchable() throws {
        let loop = try EventLoop()
        let error = reason { () throws(TransportError) in try loop.add(-1, token: 0, for: .read) }
        #expect(error == .system(call: "epoll_ctl", code: EBADF))
    }

    @Test("more descriptors than one call can report are all reported")
    func manyDescriptors() throws {
        let loop = try EventLoop()
        let pairs = try (0..<100).map { _ in try PacketTransport.pair() }
        for (token, pair) in pairs.enumerated() {
            try loop.add(pair.0.fileDescriptor, token: token, for: .read)
            try pair.1.send(reset)
        }
        var seen: Set<Int> = []
        for _ in 0..<4 {
            for event in loop.wait(until: .zero) {
                seen.insert(event.token)
                try pairs[event.token].0.receive { _ in }
            }
        }
        #expect(seen.count == 100)
    }

    @Test("the clock never goes backwards")
    func clock() {
        let first = MonotonicClock.now
        #expect(first > .zero)
        #expect(MonotonicClock.now >= first)
    }
}
