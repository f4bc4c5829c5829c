import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import BluetoothUsers
import Foundation

/// One connection of a manager to a peripheral, from the request to its end. Its state changes on the application's
/// queue and in the application's calls.
final class PeripheralSession: @unchecked Sendable {
    // Unchecked: state that several threads use is guarded.

    let peer: PeerID
    weak let peripheral: CBPeripheral?
    private let reference: SessionReference<CentralSession>
    /// Whether to reconnect after a lost connection.
    let isReconnecting: Bool
    /// The saved state of the peripheral, as last found.
    @Guarded var remembered: CentralState.Peripheral?
    /// The search for the attributes that an earlier run discovered; nil when it is complete.
    var relocation: Relocation?
    /// Whether this is a reconnection after a lost connection.
    private var isAgain = false
    /// Whether the last attempt was made because an earlier connection was about to end.
    private var hasWaited = false
    private let place = Guarded(wrappedValue: Place())

    /// The state of the connection.
    private struct Place {
        var link: PeripheralLink?
        var attempt: (attachment: Attachment, token: CallToken)?
        var isOver = false
    }

    init(_ peripheral: CBPeripheral, of central: CentralSession, isReconnecting: Bool) {
        peer = peripheral.peer
        self.peripheral = peripheral
        reference = central.reference
        self.isReconnecting = isReconnecting
    }

    /// The link, while the application may use it.
    var link: PeripheralLink? { place.withLock { $0.link } }
    var isOver: Bool { place.withLock { $0.isOver } }
    /// Nil once the manager is gone. The application may still hold the peripheral.
    var central: CentralSession? { reference.session }

    // MARK: - Connecting

    func connect(through attachment: Attachment, after delay: Duration = .zero) {
        // If the power cycle is over, the manager's state reports that.
        guard let token = attachment.register(.connect(self)) else { return }
        let isWanted = place.withLock { place in
            guard !place.isOver else { return false }
            place.attempt = (attachment, token)
            return true
        }
        guard isWanted else { return _ = attachment.take(token) }
        attachment.post(.connect(peer, ConnectRequest(delay: delay)), token: token)
        // Another thread may have cancelled the attempt before it began.
        if isOver { attachment.post(.cancel, token: token) }
    }

    /// The link is established.
    func connected(_ link: PeripheralLink, mtu: Int) {
        let isWanted = place.withLock { place in
            place.attempt = nil
            if !place.isOver { place.link = link }
            return !place.isOver
        }
        guard isWanted else { return link.attachment.post(.release(link.identifier)) }
        hasWaited = false
        link.user = self
        if relocation == nil { tellConnected(link, mtu: mtu) } else { locateNext(on: link) }
    }

    /// Reports the link to the application.
    func tellConnected(_ link: PeripheralLink, mtu: Int) {
        guard let peripheral, peripheral.advance(self, from: .connecting, to: .connected) else { return }
        peripheral.mtu = mtu
        if let name = central?.environment.adapter.names[peer] { peripheral.currentName = name }
        remember()
        guard let manager = peripheral.manager else { return }
        manager.delegate?.centralManager(manager, didConnect: peripheral)
    }

    func failed(_ error: HostError, through attachment: Attachment?) {
        place.withLock { $0.attempt = nil }
        guard !isOver else { return }
        // The manager's state reports that the adapter is off.
        if error.isEndOfAdapter { return }
        if let attachment, error == .alreadyConnected, !hasWaited {
            // The link of an earlier session was reported before this, and has been released. If the refusal comes
            // again, another peripheral turned out to be the same device.
            hasWaited = true
            return connect(through: attachment)
        }
        if let attachment, error != .alreadyConnected, isAgain {
            // A lost connection is being restored, which only the application cancels.
            return connect(through: attachment, after: .seconds(1))
        }
        end()
        guard let peripheral, peripheral.endSession(self), let manager = peripheral.manager else { return }
        manager.delegate?.centralManager(
            manager, didFailToConnect: peripheral,
            error: CBError.error(for: BluetoothError(error), orElse: .connectionFailed))
    }

    // MARK: - Disconnecting

    /// Releases the link, or cancels the attempt, at the application's request. Returns false if the connection has
    /// ended already, which is reported for that reason.
    @discardableResult
    func release() -> Bool {
        let place = self.place.withLock { place in
            defer { place = Place(isOver: true) }
            return place
        }
        if let link = place.link {
            link.end()
            link.attachment.post(.abandon(link.identifier))
            link.attachment.post(.release(link.identifier))
        }
        if let attempt = place.attempt { attempt.attachment.post(.cancel, token: attempt.token) }
        return !place.isOver
    }

    /// The end was reported to the application, or the manager's state will report it.
    func end() {
        place.withLock { $0 = Place(isOver: true) }
        central?.forget(self)
    }

    func linkEnded(_ reason: DisconnectReason, through attachment: Attachment?) {
        place.withLock { $0.link = nil }
        // The manager's state reports a reset of the adapter.
        guard !isOver, reason != .adapterReset, reason != .adapterRemoved else { return }
        if relocation != nil, let attachment {
            // The link has not been reported to the application yet.
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
            // A connection that the application is ending is not reported as reconnecting.
            guard peripheral.advance(self, from: .connected, to: .connecting) else { return }
            peripheral.stopNotifying()
        } else {
            _ = peripheral.endSession(self)
        }
        manager.delegate?.centralManager(
            manager, didDisconnectPeripheral: peripheral, timestamp: manager.session.environment.now,
            isReconnecting: again != nil,
            error: CBError.error(for: .disconnected(reason), orElse: .peripheralDisconnected))
    }
}

extension HostError {
    /// Whether the adapter caused the end.
    fileprivate var isEndOfAdapter: Bool {
        switch self {
        case .notReady, .controllerReset, .adapterRemoved, .cancelled, .disconnected(.adapterReset),
            .disconnected(.adapterRemoved):
            true
        default: false
        }
    }
}
