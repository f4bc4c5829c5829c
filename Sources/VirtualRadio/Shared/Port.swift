import BluetoothBase
import BluetoothHCI
import Synchronization

extension VirtualRadio {
    /// The host's side of one controller on a shared radio. Any thread may use it, but only one host at a time.
    public struct Port: Sendable {
        public let radio: VirtualRadio
        /// Identifies the controller on the radio's `Air`.
        public let identifier: ControllerID

        /// Puts a host on the controller, in the place of one that is there. It is told when there is something to receive.
        ///
        /// - Returns: what to detach it by.
        @discardableResult
        public func attach(_ host: any PacketPortHost) -> UInt64 {
            let (attachment, former) = radio.state.withLock { state in
                state.attachments += 1
                // Answers to the host before, or to the Reset for which it left, are not for this one.
                state.air[identifier].outbox.removeAll()
                let former = state.hosts.updateValue(host, forKey: identifier)
                state.current[identifier] = state.attachments
                return (state.attachments, former)
            }
            if former !== host { former?.displaced() }
            return attachment
        }

        /// Takes a host off: the controller is reset, as it would be for the next host. Where another has taken its place
        /// already, nothing happens: a host that goes on a thread of its own may do so late.
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
            // This host may have been the one that minded the next deadline of the air.
            radio.call(others)
        }

        /// Sends a packet to the controller, H4 indicator first.
        public func send(_ packet: Span<UInt8>) {
            radio.withAir(for: identifier) { state, now in
                state.air.receive(packet, from: identifier, at: now)
            }
        }

        /// Performs everything that is due, and takes the controller's packets for its host.
        ///
        /// - Parameter packets: an empty queue, whose memory is reused.
        public func receive(into packets: inout PacketQueue) {
            radio.withAir(for: identifier) { state, _ in
                swap(&state.air[identifier].outbox, &packets)
            }
        }

        /// When something next happens on the air by itself.
        public var nextDeadline: Instant? { radio.state.withLock { $0.air.nextDeadline } }
    }
}

extension VirtualRadio.Port: PacketPort {
    public var name: String { "virtual" }

    public var identity: AnyHashable { Identity(radio: ObjectIdentifier(radio), controller: identifier.index) }

    private struct Identity: Hashable {
        let radio: ObjectIdentifier
        let controller: Int
    }

    public var now: Instant { radio.now }

    public var isTimeManual: Bool { radio.time == .manual }

    public func requestTurn(of host: any PacketPortHost) { radio.call([host]) }
}
