import BluetoothHost
import DBus
import Glibc

/// The daemon's end of a socket that carries values between it and a client without a call for each. The client
/// acquired it from the daemon, or the daemon from the client's application.
final class AcquiredPipe {
    let client: Client
    private let loop: EventLoop
    private let descriptor: Int32
    private let ended: () -> Void
    private let direction: Direction
    private var isOpen = true
    private var isWatched = false

    /// What the pipe carries.
    enum Direction {
        /// From the client. The handler returns false if it cannot take a value now; call `resume` when it can.
        case fromClient((_ receive: () -> [UInt8]?) -> Bool)
        case toClient
    }

    /// The maximum length of an attribute value (Core 5.4, Vol 3, Part F, 3.2.9).
    private static let valueLimit = 512
    /// The values to take from a client before others get their turn.
    private static let valuesPerTurn = 64

    /// Creates a pipe.
    ///
    /// - Parameters:
    ///   - ended: called once when the client has closed its end.
    /// - Returns: the pipe, and the client's end, which the caller closes after sending it.
    static func open(
        for client: Client, _ direction: Direction, ended: @escaping () -> Void
    ) throws(BusError) -> (AcquiredPipe, clientEnd: Int32) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .failed(Errno.text(errno)) }
        do throws(BusFailure) {
            return (try AcquiredPipe(client, ends[0], direction, ended), ends[1])
        } catch {
            close(ends[0])
            close(ends[1])
            throw .failed("\(error)")
        }
    }

    /// Takes over a socket of the client's application; nil if it cannot be waited for. It is closed in any case.
    ///
    /// - Parameter ended: called once when the client has closed its end.
    convenience init?(
        adopting descriptor: Int32, for client: Client, _ direction: Direction, ended: @escaping () -> Void
    ) {
        do throws(BusFailure) {
            try self.init(client, descriptor, direction, ended)
        } catch {
            close(descriptor)
            return nil
        }
    }

    private init(
        _ client: Client, _ descriptor: Int32, _ direction: Direction, _ ended: @escaping () -> Void
    ) throws(BusFailure) {
        self.client = client
        self.descriptor = descriptor
        self.ended = ended
        self.direction = direction
        loop = client.daemon.loop
        try watch()
    }

    private func watch() throws(BusFailure) {
        guard !isWatched else { return }
        try loop.watch(descriptor, for: .readable) { [unowned self] readiness in ready(readiness) }
        isWatched = true
    }

    /// Stops reading the client's values. The end of the socket is also noticed only after reading resumes.
    private func pause() {
        loop.unwatch(descriptor)
        isWatched = false
    }

    deinit { release() }

    private func release() {
        guard isOpen else { return }
        isOpen = false
        pause()
        close(descriptor)
    }

    private func ready(_ readiness: EventLoop.Readiness) {
        if readiness.contains(.readable) {
            for _ in 0..<Self.valuesPerTurn {
                switch direction {
                case .toClient:
                    // The client has nothing to say here.
                    guard receive() != nil else { return }
                case .fromClient(let take):
                    var isDry = false
                    let isTaken = take {
                        let octets = receive()
                        isDry = octets == nil
                        return octets
                    }
                    if !isTaken { return pause() }
                    if isDry || !isOpen { return }
                }
            }
        } else {
            end()
        }
    }

    /// Takes values from the client again.
    func resume() {
        guard isOpen else { return }
        do throws(BusFailure) { try watch() } catch { end() }
    }

    /// Receives a value; nil if there is none now, or if the client has closed its end.
    private func receive() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: Self.valueLimit)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 { return Array(buffer.prefix(count)) }
        if count == 0 || (errno != EAGAIN && errno != EINTR) { end() }
        return nil
    }

    /// Sends a value to the client. A client that does not read loses its pipe, which it notices, instead of values.
    ///
    /// - Returns: false if the pipe has ended.
    @discardableResult
    func send(_ octets: [UInt8]) -> Bool {
        guard isOpen else { return false }
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        if Glibc.send(descriptor, octets, octets.count, flags) >= 0 { return true }
        end()
        return false
    }

    private func end() {
        guard isOpen else { return }
        release()
        ended()
    }
}
