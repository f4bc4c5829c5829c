import BluetoothPlatform
import Testing

@testable import HCITransport

struct CurrentThreadTests {
    @Test("each thread gets its own kernel thread ID, whichever threads asked before or in between")
    func identifiers() throws {
        let count = 16
        let barrier = Barrier(count)
        var threads: [pthread_t] = []
        for _ in 0..<count {
            var thread = pthread_t()
            let code = pthread_create(
                &thread, nil,
                { context in
                    let barrier = context.map { Unmanaged<Barrier>.fromOpaque($0).takeRetainedValue() }
                    let first = CurrentThread.identifier
                    // All threads are there at once, so none can have taken over another's number.
                    barrier?.wait()
                    let isRight = first == kernelIdentifier() && CurrentThread.identifier == first
                    return UnsafeMutableRawPointer(bitPattern: isRight ? Int(first) : 0)
                }, Unmanaged.passRetained(barrier).toOpaque())
            try #require(code == 0)
            threads.append(thread)
        }
        let identifiers = threads.map { thread in
            var result: UnsafeMutableRawPointer?
            pthread_join(thread, &result)
            return Int(bitPattern: result)
        }
        #expect(!identifiers.contains(0))
        #expect(Set(identifiers).count == count)
    }

    @Test("a task that was moved to another thread by a suspension gets that thread's ID")
    func suspensions() async {
        for _ in 0..<1000 {
            #expect(CurrentThread.identifier == kernelIdentifier())
            await Task.detached {}.value
            #expect(CurrentThread.identifier == kernelIdentifier())
        }
    }
}

/// The number of the calling thread as the kernel's file system tells it: `/proc/thread-self` leads to
/// `process/task/number`.
private func kernelIdentifier() -> Int32? {
    var path = [UInt8](repeating: 0, count: 64)
    let count = path.withUnsafeMutableBytes { bytes in
        bytes.baseAddress.map { readlink("/proc/thread-self", $0, bytes.count) } ?? 0
    }
    guard count > 0 else { return nil }
    return String(decoding: path[..<count], as: UTF8.self).split(separator: "/").last.flatMap { Int32($0) }
}

/// Lets threads go on when all of them have arrived.
private final class Barrier {
    private let barrier: UnsafeMutablePointer<pthread_barrier_t>

    init(_ count: Int) {
        barrier = .allocate(capacity: 1)
        pthread_barrier_init(barrier, nil, UInt32(count))
    }

    deinit {
        pthread_barrier_destroy(barrier)
        barrier.deallocate()
    }

    func wait() { pthread_barrier_wait(barrier) }
}
