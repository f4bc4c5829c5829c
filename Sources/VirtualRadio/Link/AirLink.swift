import BluetoothBase
import BluetoothHCI

/// A connection: two ends that exchange packets at connection events (Core 5.4, Vol 6, Part B, 4.5).
///
/// An idle link sets no timer. An event without data on either side changes nothing that a host could observe, so it is
/// not simulated. Event times are calculated from `anchor` instead.
struct AirLink: Sendable {
    /// False for a free slot.
    var isInUse = true
    /// The central's end, then the peripheral's.
    private var ends: InlineArray<2, LinkEnd>
    var parameters: ConnectionTiming
    /// One connection event; all others are a multiple of the interval away from it.
    var anchor: Instant
    /// The instant of the next data exchange, if there is data.
    var nextExchange: Instant?
    /// The connection event in which data was last exchanged, and the number of exchanges in it.
    var currentEvent: Instant?
    var exchangesInEvent = 0
    /// The link layer procedures in progress, in the order in which they are due.
    var procedures: [Procedure] = []
    var encryption = Encryption.off
    /// Whether a connection parameter request is waiting for the answer of the central's host.
    var isParameterRequestPending = false
    /// The maximum number of exchanges in one connection event.
    let maximumExchangesPerEvent: Int
    /// Whether both ends exist and can receive each other.
    var hasContact: Bool
    /// The instant at which the link ends because of lost contact, and the reason to report.
    var supervisionDeadline: Instant?
    var lossReason = HCIStatus.connectionTimeout

    /// The state of encryption. No data is sent while encryption is being started (Vol 6, Part B, 5.1.3.1).
    enum Encryption: Equatable, Sendable {
        case off
        case on
        /// The central has requested encryption, and the peripheral's host has not answered yet. `wasOn` is true for a
        /// key refresh.
        case awaitingKey(central: UInt128, wasOn: Bool)
        /// Both ends have a key, and are about to verify that the keys match.
        case starting(central: UInt128, peripheral: UInt128, wasOn: Bool)
    }

    init(
        central: LinkEnd, peripheral: LinkEnd, parameters: ConnectionTiming, anchor: Instant,
        maximumExchangesPerEvent: Int
    ) {
        ends = [central, peripheral]
        self.parameters = parameters
        self.anchor = anchor
        self.maximumExchangesPerEvent = maximumExchangesPerEvent
        hasContact = central.isOpen && peripheral.isOpen
    }

    /// One end. The index is calculated from the role, because an accessor with a branch for each role would not be
    /// inlined, and would cost an allocation at every use.
    subscript(role: LinkRole) -> LinkEnd {
        @inline(__always) get { ends[Int(role.rawValue)] }
        @inline(__always) _modify { yield &ends[Int(role.rawValue)] }
    }

    var central: LinkEnd {
        @inline(__always) get { ends[0] }
        @inline(__always) _modify { yield &ends[0] }
    }

    var peripheral: LinkEnd {
        @inline(__always) get { ends[1] }
        @inline(__always) _modify { yield &ends[1] }
    }

    /// The role of a controller, if it still has the connection. Both ends are never on the same controller.
    func role(of controller: Int) -> LinkRole? {
        if central.isOpen, central.controller == controller { return .central }
        if peripheral.isOpen, peripheral.controller == controller { return .peripheral }
        return nil
    }

    /// Whether data may be sent. No data is sent while encryption is being started.
    var carriesData: Bool {
        switch encryption {
        case .off, .on: true
        case .awaitingKey, .starting: false
        }
    }
}
