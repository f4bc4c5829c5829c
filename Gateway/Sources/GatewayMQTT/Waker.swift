import Foundation

/// Wakes a thread that waits for file descriptors.
final class Waker: Sendable {
    /// Becomes readable when `wake` is called.
    let descriptor: Int32
    private let writer: Int32

    init() throws(BrokerFailure) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw BrokerFailure("cannot create a pipe: \(String(cString: strerror(errno)))") }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (descriptor, writer) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(writer)
    }

    func wake() {
        var octet: UInt8 = 0
        // A full pipe also wakes the thread.
        _ = write(writer, &octet, 1)
    }

    func clear() {
        var octets = [UInt8](repeating: 0, count: 256)
        while read(descriptor, &octets, octets.count) == octets.count {}
    }
}
