import BluetoothBase
import BluetoothCommandLine
import Dispatch
import BluetoothPlatform

/// The reason why a loop over a bearer has ended.
enum BearerEnd: Sendable { case peerGone, finished, interrupted }

/// Transfers packets between a descriptor and one side of a bearer, until the peer is gone or that side is finished.
struct BearerLoop<User: BearerUser & Sendable>: Sendable {
    /// The longest line of standard input, in octets.
    private static var maximumLine: Int { 4096 }
    /// POLLRDHUP, which the C library declares only if GNU's extensions are enabled.
    private static var readHangUp: Int16 { 0x2000 }

    private(set) var user: User
    private let descriptor: Int32
    private let origin = ContinuousClock.now
    private var outgoing: ArraySlice<[UInt8]> = []
    private var line: [UInt8] = []
    private var isInputOpen: Bool
    private var skipsLine = false

    private init(_ user: User, on bearer: BearerName, readsInput: Bool) {
        self.user = user
        descriptor = bearer.descriptor
        isInputOpen = readsInput
    }

    /// Runs on a separate thread until it ends. Cancelling the task ends it.
    ///
    /// - Parameter readsInput: whether the lines of standard input are passed to `user`.
    static func run(
        _ user: User, on bearer: BearerName, readsInput: Bool = false
    ) async throws -> (user: User, end: BearerEnd) {
        try bearer.check()
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw CommandFailure(.failure, "no descriptor is left for a pipe; raise the limit on open files")
        }
        let (wake, waker) = (ends[0], ends[1])
        defer {
            close(wake)
            close(waker)
        }
        let loop = BearerLoop(user, on: bearer, readsInput: readsInput)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue(label: "bearer", qos: .userInitiated).async {
                    var loop = loop
                    continuation.resume(
                        with: Result {
                            let end = try loop.run(until: wake)
                            return (loop.user, end)
                        })
                }
            }
        } onCancel: {
            _ = write(waker, [1], 1)
        }
    }

    private var now: Instant { Instant.zero.advanced(by: origin.duration(to: .now)) }

    private mutating func run(until wake: Int32) throws -> BearerEnd {
        user.begin(at: now)
        while true {
            try tell()
            if user.isFinished, outgoing.isEmpty { return .finished }
            if user.isDead { throw CommandFailure(.linkLost, "the peer left a request or an indication unanswered") }
            guard flush() else { return .peerGone }
            var requests = [
                pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
                // The peer's next request, and the next line, can wait until the peer has read the earlier packets.
                pollfd(fd: descriptor, events: Int16(outgoing.isEmpty ? POLLIN : POLLOUT), revents: 0),
                pollfd(fd: isInputOpen && outgoing.isEmpty ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&requests, 3, timeout) >= 0 || errno == EINTR else {
                throw CommandFailure(.failure, "waiting for the bearer failed")
            }
            if requests[0].revents != 0 { return .interrupted }
            user.fire(at: now)
            if requests[2].revents != 0 { readInput() }
            if requests[1].revents != 0, outgoing.isEmpty, !receive() {
                try tell()
                return .peerGone
            }
        }
    }

    private var timeout: Int32 {
        guard let deadline = user.nextDeadline else { return -1 }
        // Rounded up, so that the loop does not wake before the deadline.
        return Int32(clamping: (max(0, now.duration(to: deadline).nanoseconds) + 999_999) / 1_000_000)
    }

    /// Prints the lines and complaints of the user.
    private mutating func tell() throws {
        for complaint in user.complaints { say("ble: \(complaint)") }
        user.complaints = []
        for line in user.lines { try writeLine(line) }
        user.lines = []
    }

    // MARK: - Packets

    /// Sends the packets that the peer accepts now. Returns false if the peer is gone.
    private mutating func flush() -> Bool {
        outgoing += user.outgoing
        user.outgoing = []
        while let packet = outgoing.first {
            if send(descriptor, packet, packet.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)) < 0 {
                if errno == EAGAIN || errno == ENOBUFS { return true }
                if errno != EINTR { return false }
            } else {
                outgoing = outgoing.dropFirst()
            }
        }
        return true
    }

    /// Receives one packet. Returns false if the peer is gone.
    private mutating func receive() -> Bool {
        // Longer than any PDU, so that a packet that is too long is detected.
        var packet = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &packet, packet.count, Int32(MSG_DONTWAIT))
        if count < 0 { return errno == EAGAIN || errno == EINTR }
        if count == 0 {
            // Only the state of the socket distinguishes an empty packet from the end.
            var request = pollfd(fd: descriptor, events: Self.readHangUp, revents: 0)
            poll(&request, 1, 0)
            return request.revents & (Self.readHangUp | Int16(POLLHUP | POLLERR)) == 0
        }
        user.receive(Array(packet.prefix(count)), at: now)
        return true
    }

    // MARK: - Standard input

    private mutating func readInput() {
        var piece = [UInt8](repeating: 0, count: 4096)
        let count = read(STDIN_FILENO, &piece, piece.count)
        guard count > 0 else {
            if count == 0 || (errno != EAGAIN && errno != EINTR) {
                isInputOpen = false
                if !line.isEmpty { endLine() }
            }
            return
        }
        for octet in piece.prefix(count) {
            if octet == UInt8(ascii: "\n") {
                endLine()
            } else if line.count < Self.maximumLine {
                line.append(octet)
            } else {
                skipsLine = true
            }
        }
    }

    private mutating func endLine() {
        defer { (line, skipsLine) = ([], false) }
        if skipsLine { return user.complaints.append("ignored a line of more than \(Self.maximumLine) octets") }
        user.enter(String(decoding: line, as: UTF8.self), at: now)
    }
}
