import BluetoothBase
import BluetoothHCI
import Synchronization

extension VirtualRadio {
    /// The host's side of one controller on a shared radio. Any thread may use it, but only one host at a time.
    public struct Port: Sendable {
        /// The radio that the controller belongs to.
        public let radio: VirtualRadio
        /// Identifies the controller on the radio's `Air`.
        public let identifier: ControllerID

        /// Attaches a host to the controller, replacing the current one. The host is notified when packets are
        /// available to receive.
        ///
        /// - Returns: the attachment, to pass to `detach(_:)`.
        @discardableResult
        public func attach(_ host: any PacketPortHost) -> UInt64 {
            let (attachment, former) = radio.state.withLock { state in
                state.attachments += 1
                // Discard packets meant for the previous host, such as the answer to its final Reset.
                state.air[identifier].outbox.removeAll()
                let former = state.hosts.updateValue(host, forKey: identifier)
                state.current[identifier] = state.attachments
                return (state.attachments, former)
            }
            if former !== host { former?.displaced() }
            return attachment
        }

        /// Detaches a host and resets the controller for the next one. Does nothing if another host has already
        /// replaced it, because a host that runs on its own thread may detach late.
        public func detach(_ attachment: UInt64) {
            guard radio.state.withLock({ $0.current[identifier] == attachment }) else { return }
            radio.withAir(for: identifier) { state, now in
                guard state.current[identifier] == attachment else { return }
                state.air.dismissHost(of: identifier, at: now)
            }
            let others = radio.state.withLock { state in
                if state.current[identifier] == attachment {
                    state.hosts[identifier] = nil
                    state.current[identifier] = nil
                }
                return Array(state.hosts.values)
            }
            // This host may have been responsible for the air's next deadline.
            radio.call(others)
        }

        /// Sends a packet to the controller, H4 indicator first.
        public func send(_ packet: Span<UInt8>) {
            radio.withAir(for: identifier) { state, now in
                state.air.receive(packet, from: identifier, at: now)
            }
        }

        /// Performs everything that is due, and moves the controller's pending packets to its host.
        ///
        /// - Parameter packets: an empty queue, whose memory is reused. On return it holds the packets.
        public func receive(into packets: inout PacketQueue) {
            radio.withAir(for: identifier) { state, _ in
                swap(&state.air[identifier].outbox, &packets)
            }
        }

        /// The next instant at which something is scheduled on the air.
        public var nextDeadline: Instant? { radio.state.withLock { $0.air.nextDeadline } }
    }
}

extension VirtualRadio.Port: PacketPort {
    /// The name of the transport, `virtual`.
    public var name: String { "virtual" }

    /// The radio and the controller, so that copies of a port have equal identities.
    public var identity: AnyHashable { Identity(radio: ObjectIdentifier(radio), controller: identifier.index) }

    private struct Identity: Hashable {
        let radio: ObjectIdentifier
        let controller: Int
    }

    /// The current time of the radio.
    public var now: Instant { radio.now }

    /// Whether the radio's time is `.manual`.
    public var isTimeManual: Bool { radio.time == .manual }

    /// If the radio's time is manual, gives a host a turn, or queues it behind the turns in progress. Otherwise, wakes
    /// it.
    public func requestTurn(of host: any PacketPortHost) { radio.call([host]) }
}
