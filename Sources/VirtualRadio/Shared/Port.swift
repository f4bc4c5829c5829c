import BluetoothBase
import BluetoothHCI
import Synchronization

extension VirtualRadio {
    /// The host's side of one controller on a shared radio. Any thread may use it; one host at a time does.
    public struct Port: Sendable {
        public let radio: VirtualRadio
        /// Names the controller on the radio's `Air`.
        public let identifier: ControllerID

        /// Which of the hosts that a controller has had one after the other.
        public struct Attachment: Equatable, Sendable {
            let number: UInt64
        }

        /// Puts a host on the controller, in the place of one that is there. It is told when there is something to receive.
        @discardableResult
        public func attach(_ host: Host) -> Attachment {
            radio.state.withLock { state in
                state.attachments += 1
                let attachment = Attachment(number: state.attachments)
                state.hosts[identifier] = host
                state.current[identifier] = attachment
                return attachment
            }
        }

        /// Takes the host off: the controller is reset, as it would be for the next host.
        ///
        /// - Parameter attachment: whose host. Where another has taken its place already, nothing happens: a host that goes
        ///   on a thread of its own may do so late. Nil takes off whichever is there.
        public func detach(_ attachment: Attachment? = nil) {
            var reset = ByteWriter()
            Reset().encodePacket(into: &reset)
            radio.withAir(for: identifier) { state, now in
                guard isThere(attachment, state) else { return }
                state.air.receive(reset.span, from: identifier, at: now)
                state.air[identifier].outbox.removeAll()
            }
            let others = radio.state.withLock { state in
                if isThere(attachment, state) {
                    state.hosts[identifier] = nil
                    state.current[identifier] = nil
                }
                return state.hosts.values.map(\.wake)
            }
            // This host may have been the one that minded the next deadline of the air.
            for wake in others { wake() }
        }

        private func isThere(_ attachment: Attachment?, _ state: State) -> Bool {
            attachment == nil || state.current[identifier] == attachment
        }

        /// Hands a packet to the controller, its H4 indicator first.
        public func send(_ packet: Span<UInt8>) {
            radio.withAir(for: identifier) { state, now in
                state.activity &+= 1
                state.air.receive(packet, from: identifier, at: now)
            }
        }

        /// Lets everything happen that is due, and takes what the controller has for its host.
        ///
        /// - Parameter packets: an empty queue, whose memory is used again.
        public func receive(into packets: inout PacketQueue) {
            radio.withAir(for: identifier) { state, _ in
                swap(&state.air[identifier].outbox, &packets)
                if !packets.isEmpty { state.activity &+= 1 }
            }
        }

        /// When something happens on the air by itself.
        public var nextDeadline: Instant? { radio.state.withLock { $0.air.nextDeadline } }
    }
}
