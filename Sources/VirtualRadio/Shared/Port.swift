import BluetoothBase
import BluetoothHCI
import Synchronization

extension VirtualRadio {
    /// The host's side of one controller on a shared radio. Any thread may use it, but only one host at a time.
    public struct Port: Sendable {
        public let radio: VirtualRadio
        /// Identifies the controller on the radio's `Air`.
        public let identifier: ControllerID

        /// Identifies one of the successive hosts of a controller.
        public struct Attachment: Equatable, Sendable {
            let number: UInt64
        }

        /// Attaches a host to the controller, replacing the current one. The host is woken when there is something to
        /// receive.
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

        /// Detaches the host: the controller is reset for the next host.
        ///
        /// - Parameter attachment: which host. If another one has already replaced it, nothing happens: a host that
        ///   detaches on its own thread may do so late. Nil detaches whichever host is attached.
        public func detach(_ attachment: Attachment? = nil) {
            var reset = ByteWriter()
            Reset().encodePacket(into: &reset)
            radio.withAir(for: identifier) { state, now in
                guard isAttached(attachment, state) else { return }
                state.air.receive(reset.span, from: identifier, at: now)
                state.air[identifier].outbox.removeAll()
            }
            let others = radio.state.withLock { state in
                if isAttached(attachment, state) {
                    state.hosts[identifier] = nil
                    state.current[identifier] = nil
                }
                return state.hosts.values.map(\.wake)
            }
            // This host may have been the one that handles the next deadline of the air.
            for wake in others { wake() }
        }

        private func isAttached(_ attachment: Attachment?, _ state: State) -> Bool {
            attachment == nil || state.current[identifier] == attachment
        }

        /// Sends a packet to the controller, H4 indicator first.
        public func send(_ packet: Span<UInt8>) {
            radio.withAir(for: identifier) { state, now in
                state.activity &+= 1
                state.air.receive(packet, from: identifier, at: now)
            }
        }

        /// Performs everything that is due, and takes the controller's packets for its host.
        ///
        /// - Parameter packets: an empty queue, whose memory is reused.
        public func receive(into packets: inout PacketQueue) {
            radio.withAir(for: identifier) { state, _ in
                swap(&state.air[identifier].outbox, &packets)
                if !packets.isEmpty { state.activity &+= 1 }
            }
        }

        /// When something next happens on the air by itself.
        public var nextDeadline: Instant? { radio.state.withLock { $0.air.nextDeadline } }
    }
}
