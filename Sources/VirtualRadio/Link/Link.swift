import BluetoothBase
import BluetoothHCI

/// A connection: two ends that meet at connection events (Core 5.4, Vol 6, Part B, 4.5).
///
/// An idle link sets no timer: an event in which both ends would only say that they have nothing to say changes nothing
/// that a host could see, so it is never simulated. The event clock is arithmetic on `anchor` instead.
struct Link: Sendable {
    /// False for a slot that waits to be used again.
    var isInUse = true
    /// The central's end, then the peripheral's.
    private var ends: InlineArray<2, LinkEnd>
    var parameters: ConnectionParameters
    /// A connection event; all others lie whole intervals from it.
    var anchor: Instant
    /// When the ends next exchange data, if there is any to exchange.
    var nextExchange: Instant?
    /// The connection event that data was last exchanged in, and how often in it.
    var currentEvent: Instant?
    var exchangesInEvent = 0
    /// The link layer procedures that are under way, the one that is due first in front.
    var procedures: [Procedure] = []
    var encryption = Encryption.off
    /// Whether the central's host has been asked for other connection parameters and has not answered.
    var isParameterRequestPending = false
    /// How often data is exchanged in one connection event at most.
    let maximumExchangesPerEvent: Int
    /// Whether the two ends are both there and hear each other.
    var hasContact: Bool
    /// When the link is given up for lack of contact, and the reason then told.
    var supervisionDeadline: Instant?
    var lossReason = HCIStatus.connectionTimeout

    /// How far encryption has come. While a key is being agreed on no data is sent (Vol 6, Part B, 5.1.3.1).
    enum Encryption: Equatable, Sendable {
        case off
        case on
        /// The central asked; the peripheral's host has not answered yet. `wasOn` is true for a key refresh.
        case awaitingKey(central: UInt128, wasOn: Bool)
        /// Both have a key, and are about to find out whether it is the same.
        case starting(central: UInt128, peripheral: UInt128, wasOn: Bool)
    }

    init(
        central: LinkEnd, peripheral: LinkEnd, parameters: ConnectionParameters, anchor: Instant,
        maximumExchangesPerEvent: Int
    ) {
        ends = [central, peripheral]
        self.parameters = parameters
        self.anchor = anchor
        self.maximumExchangesPerEvent = maximumExchangesPerEvent
        hasContact = central.isOpen && peripheral.isOpen
    }

    /// One end. A single place in memory, chosen by arithmetic: an accessor with a branch for each role would not be
    /// inlined, and cost an allocation at every use.
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

    /// Which end a controller is, if it still has the connection. Two ends on one controller do not occur.
    func role(of controller: Int) -> LinkRole? {
        if central.isOpen, central.controller == controller { return .central }
        if peripheral.isOpen, peripheral.controller == controller { return .peripheral }
        return nil
    }

    /// Whether data may be sent: not while a key is being agreed on.
    var carriesData: Bool {
        switch encryption {
        case .off, .on: true
        case .awaitingKey, .starting: false
        }
    }
}
