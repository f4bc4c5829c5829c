import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import Foundation

/// One connection of a manager to a peripheral, from the wish for it to its end. It changes on the application's queue,
/// except for what the application itself asks for.
final class PeripheralSession: @unchecked Sendable {
    // Unchecked: what several threads use is guarded.

    let peer: PeerID
    weak let peripheral: CBPeripheral?
    weak let central: CentralSession?
    /// Whether a connection that is lost is to be made again.
    let isReconnecting: Bool
    /// What is remembered of the peripheral, as it was last found.
    @Guarded var remembered: CentralState.Peripheral?
    /// Where the search for what is known from a run before has got to; nil when that is over.
    var relocation: Relocation?
    /// Whether a connection that was lost is being made again.
    private var isAgain = false
    private let place = Guarded(wrappedValue: Place())

    /// Where the connection stands.
    private struct Place {
        var link: PeripheralLink?
        var attempt: (attachment: Attachment, token: CallToken)?
        var isOver = false
    }

    init(_ peripheral: CBPeripheral, of central: CentralSession, isReconnecting: Bool) {
        peer = peripheral.peer
        self.peripheral = peripheral
        self.central = central
        self.isReconnecting = isReconnecting
    }

    /// While the application may use it.
    var link: PeripheralLink? { place.withLock { $0.link } }
    var isOver: Bool { place.withLock { $0.isOver } }

    // MARK: - Connecting

    func connect(through attachment: Attachment, after delay: Duration = .zero) {
        let token = attachment.runner.makeToken()
        let isWanted = place.withLock { place in
            guard !place.isOver else { return false }
            place.attempt = (attachment, token)
            return true
        }
        guard isWanted else { return }
        // Where the power cycle is over the state says so.
        _ = attachment.begin(.connect(self), .connect(peer, ConnectRequest(delay: delay)), token: token)
    }

    /// The link is there.
    func connected(_ link: PeripheralLink, mtu: Int) {
        let isWanted = place.withLock { place in
            place.attempt = nil
            if !place.isOver { place.link = link }
            return !place.isOver
        }
        guard isWanted else { return link.attachment.post(.release(link.identifier)) }
        link.user = self
        if relocation == nil { tellConnected(link, mtu: mtu) } else { locateNext(on: link) }
    }

    /// Tells the application of the link.
    func tellConnected(_ link: PeripheralLink, mtu: Int) {
        guard let peripheral, peripheral.advance(self, from: .connecting, to: .connected) else { return }
        peripheral.commandLength = CBPeripheral.commandLength(mtu)
        if let name = central?.environment.adapter.names[peer] { peripheral.currentName = name }
        remember()
        guard let manager = peripheral.manager else { return }
        manager.delegate?.centralManager(manager, didConnect: peripheral)
    }

    func failed(_ error: HostError, through attachment: Attachment?) {
        place.withLock { $0.attempt = nil }
        guard !isOver else { return }
        // That the adapter is off is said by the manager's state.
        if error.isEndOfAdapter { return }
        if let attachment, error == .alreadyConnected || isAgain {
            // A link that was given up is about to end. Or the connection was there before: only the application gives up.
            return connect(through: attachment, after: error == .alreadyConnected ? .zero : .seconds(1))
        }
        end()
        guard let peripheral, peripheral.endSession(self), let manager = peripheral.manager else { return }
        manager.delegate?.centralManager(
            manager, didFailToConnect: peripheral,
            error: CBError.error(for: BluetoothError(error), orElse: .connectionFailed))
    }

    // MARK: - Disconnecting

    /// Gives the link up, or the attempt at one, since the application wants that.
    func release() {
        let place = self.place.withLock { place in
            defer { place = Place(isOver: true) }
            return place
        }
        if let link = place.link {
            link.end()
            link.attachment.post(.release(link.identifier))
        }
        if let attempt = place.attempt { attempt.attachment.post(.cancel, token: attempt.token) }
    }

    /// The application has been told of the end, or is to learn it from the manager's state.
    func end() {
        place.withLock { $0 = Place(isOver: true) }
        central?.forget(self)
    }

    func linkEnded(_ reason: DisconnectReason, through attachment: Attachment?) {
        place.withLock { $0.link = nil }
        // A reset of the adapter is said by the manager's state.
        guard !isOver, reason != .adapterReset, reason != .adapterRemoved else { return }
        if relocation != nil, let attachment {
            // The application has not been told of the link: it is still to come.
            relocation = Relocation(of: peripheral)
            return connect(through: attachment)
        }
        let again = isReconnecting ? attachment : nil
        if let again {
            isAgain = true
            connect(through: again)
        } else {
            end()
        }
        guard let peripheral, let manager = peripheral.manager else { return }
        if again != nil {
            // One that the application is ending is not told of as to come back.
            guard peripheral.advance(self, from: .connected, to: .connecting) else { return }
            peripheral.stopNotifying()
        } else {
            _ = peripheral.endSession(self)
        }
        manager.delegate?.centralManager(
            manager, didDisconnectPeripheral: peripheral, timestamp: CFAbsoluteTimeGetCurrent(),
            isReconnecting: again != nil,
            error: CBError.error(for: .disconnected(reason), orElse: .peripheralDisconnected))
    }
}

extension HostError {
    /// Whether it was the adapter that ended what was under way.
    fileprivate var isEndOfAdapter: Bool {
        switch self {
        case .notReady, .controllerReset, .adapterRemoved, .cancelled, .disconnected(.adapterReset),
            .disconnected(.adapterRemoved):
            true
        default: false
        }
    }
}
