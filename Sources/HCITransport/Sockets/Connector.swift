import BluetoothBase
import BluetoothPlatform
import CBluetoothHCI

/// Waits for a socket while a transport is being opened, until a deadline passes or the caller cancels.
struct Connector {
    /// The time at which opening times out; nil if it never does.
    var deadline: Instant?
    /// Used to cancel opening.
    var cancellation: Waker?

    /// Connects to the first address that accepts.
    func connect(to addresses: [SocketAddress]) throws(TransportError.Reason) -> Socket {
        var failure = TransportError.Reason.hostNotFound(detail: "no address")
        for address in addresses {
            do throws(TransportError.Reason) {
                return try connect(to: address)
            } catch {
                switch error {
                case .timedOut where hasPassed, .cancelled: throw error
                default: failure = error
                }
            }
        }
        throw failure
    }

    private func connect(to address: SocketAddress) throws(TransportError.Reason) -> Socket {
        do throws(Errno) {
            let socket = try Socket(family: address.family)
            let descriptor = socket.fileDescriptor
            do throws(Errno) {
                try Errno.check { address.withPointer { BluetoothPlatform.connect(descriptor, $0, $1) } }
            } catch {
                guard error.code == EINPROGRESS else { throw error }
                try wait(for: descriptor, POLLOUT, until: nil)
                try socket.pendingError()
            }
            socket.setStreamOptions()
            return socket
        } catch {
            if error.code == ECANCELED { throw .cancelled }
            throw .init(connecting: error)
        }
    }

    /// Waits for the first client of a server. A temporary shortage that prevents accepting the client is reported
    /// once.
    func accept(
        from listener: TransportListener, report: (TransportError) -> Void
    ) throws(TransportError) -> sending StreamTransport {
        var shortage: TransportError?
        while true {
            var retry: Instant?
            do throws(TransportError) {
                if let client = try listener.accept() { return client }
            } catch {
                guard error.isShortage else { throw error }
                if shortage != error { report(error) }
                shortage = error
                retry = MonotonicClock.now.advanced(by: TransportListener.retryDelay)
            }
            do throws(Errno) {
                // While a client can't be accepted, the listener stays readable, so it is not watched until the retry.
                try wait(for: retry == nil ? listener.fileDescriptor : -1, POLLIN, until: retry)
            } catch {
                if error.code == ETIMEDOUT, retry != nil, !hasPassed { continue }
                let reason: TransportError.Reason =
                    switch error.code {
                    case ECANCELED: .cancelled
                    case ETIMEDOUT: shortage?.reason ?? .timedOut
                    default: .system(call: "poll", code: error.code)
                    }
                throw TransportError(reason, transport: listener.name.description)
            }
        }
    }

    /// Opens an adapter. If the kernel is still setting it up, this waits until the kernel has finished.
    ///
    /// - Parameter arrivals: must have been listening since before the first attempt, so that no announcement is
    ///   missed.
    func openAdapter(
        arrivals: AdapterArrivals?, _ open: () throws(TransportError) -> PacketTransport
    ) throws(TransportError) -> PacketTransport {
        defer { arrivals?.close() }
        while true {
            do throws(TransportError) {
                return try open()
            } catch {
                let failure = error
                guard failure.reason == .adapterInitializing, let arrivals else { throw failure }
                do throws(Errno) {
                    repeat {
                        if hasPassed { throw Errno(ETIMEDOUT) }
                        try wait(for: arrivals.fileDescriptor, POLLIN, until: nil)
                    } while !arrivals.drain()
                } catch {
                    throw error.code == ECANCELED ? TransportError(.cancelled, transport: failure.transport) : failure
                }
            }
        }
    }

    private var hasPassed: Bool { deadline.map { MonotonicClock.now >= $0 } ?? false }

    /// Waits until a descriptor is ready. Throws `ETIMEDOUT` at the deadline or at `end`, `ECANCELED` when cancelled.
    ///
    /// - Parameter end: nil for the deadline alone.
    private func wait(for descriptor: Int32, _ events: Int32, until end: Instant?) throws(Errno) {
        let end = earliest(deadline, end)
        // The kernel skips an entry whose descriptor is negative.
        var entries = [
            pollfd(fd: descriptor, events: Int16(events), revents: 0),
            pollfd(fd: cancellation?.fileDescriptor ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            // After an interruption by a signal, the wait continues for the remaining time.
            let count = poll(&entries, nfds_t(entries.count), Self.milliseconds(until: end))
            if count < 0, errno != EINTR { throw .last }
            if count > 0 { break }
            if let end, MonotonicClock.now >= end { throw Errno(ETIMEDOUT) }
        }
        if entries[1].revents != 0 { throw Errno(ECANCELED) }
    }

    private static func milliseconds(until deadline: Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let left = MonotonicClock.now.duration(to: deadline).nanoseconds
        // Rounded up, so that the wait does not end repeatedly just before the deadline.
        return left <= 0 ? 0 : Int32(clamping: (left - 1) / 1_000_000 + 1)
    }
}
