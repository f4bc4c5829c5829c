import BluetoothLE
import Foundation

/// One connection of a manager to a peripheral, on the engine, from the wish for it to its end.
///
/// What the application asks of the peripheral is done one thing after the other, in the order in which it was asked.
@BluetoothEngine
final class PeripheralSession: LinkUser {
    typealias Operation = @BluetoothEngine (PeripheralSession) async -> Void

    nonisolated let peer: DeviceAddress
    nonisolated let peripheral = WeakReference<CBPeripheral>()
    private nonisolated let centralReference = WeakReference<CentralSession>()
    nonisolated let delivery: Delivery

    /// While there is one.
    private(set) var link: SharedLink?
    private var attempt: Task<Void, Never>?
    /// Whether the application has been told of its end, or is to learn that from the manager's state.
    private(set) var isOver = false
    /// Whether a connection that was lost is being made again.
    private var isAgain = false
    private(set) var isReconnecting = false
    /// Whether what is known of the peripheral is from a run before, and has to be compared with what is there.
    var isRestored = false
    /// The services known from a run before that are not there any more.
    var missing: [CBService] = []
    /// What is remembered of the peripheral, as it was last found.
    var remembered: CentralState.Peripheral?
    private let operations = WorkQueue()
    /// The Client Characteristic Configuration descriptors found so far, by the handles of the values.
    var configurations: [AttributeHandle: AttributeHandle] = [:]
    /// The characteristics subscribed to, by the handles of their values.
    var notifying: Set<AttributeHandle> = []

    nonisolated init(_ peripheral: CBPeripheral, of central: CentralSession) {
        peer = peripheral.address
        delivery = central.delivery
        self.peripheral.object = peripheral
        centralReference.object = central
    }

    /// One that a run before had, which is to be connected when the adapter is on.
    convenience init(restoring peripheral: CBPeripheral, of central: CentralSession, isReconnecting: Bool) {
        self.init(peripheral, of: central)
        isRestored = true
        self.isReconnecting = isReconnecting
    }

    nonisolated var central: CentralSession? { centralReference.object }

    /// Has the application told something about the peripheral, after all it was told before. Does nothing where the
    /// application has let go of it.
    func post(_ body: @escaping (CBPeripheral) -> Void) {
        delivery.post { [peripheral] in
            if let peripheral = peripheral.object { body(peripheral) }
        }
    }

    /// As `post`, for what is only told while the peripheral is connected.
    func tell(_ body: @escaping (CBPeripheral) -> Void) {
        guard link != nil else { return }
        post { peripheral in
            if peripheral.session === self, peripheral.currentState == .connected { body(peripheral) }
        }
    }

    // MARK: - Connecting

    func connect(through shared: SharedAdapter, _ options: ConnectOptions) {
        isReconnecting = options.isReconnecting
        attempt = Task { [weak self, peer] in
            do throws(BluetoothError) {
                if options.startDelay > .zero { try await Self.pause(options.startDelay) }
                var link = try await shared.link(to: peer)
                // Somebody else may have been told of it before, and have given it up.
                while link.isEnding { link = try await shared.link(to: peer) }
                guard !Task.isCancelled, let self else { return await link.endIfUnused() }
                try await connected(link)
            } catch {
                self?.failedToConnect(error)
            }
        }
    }

    private static func pause(_ duration: Duration) async throws(BluetoothError) {
        do { try await Task.sleep(for: duration) } catch { throw .cancelled }
    }

    private func connected(_ link: SharedLink) async throws(BluetoothError) {
        try link.add(self)
        self.link = link
        if isRestored {
            await relocate(on: link)
            // Called off meanwhile, or the link has gone.
            guard self.link === link else { return }
        }
        attempt = nil
        let length = link.mtu - 3
        let name = central?.environment.names[peer]
        post { peripheral in
            guard peripheral.advance(self, from: .connecting, to: .connected) else { return }
            peripheral.commandLength = length
            if let name { peripheral.currentName = name }
            self.remember(peripheral)
            guard let manager = peripheral.manager else { return }
            manager.delegate?.centralManager(manager, didConnect: peripheral)
        }
        if isRestored { relocated() }
    }

    private func failedToConnect(_ error: BluetoothError) {
        guard attempt != nil else { return }
        attempt = nil
        // That the adapter is off is told by the manager's state.
        guard !error.isEndOfAdapter else {
            central?.ended(self)
            return end()
        }
        if isAgain, let shared = central?.shared, shared.state == .poweredOn {
            // Only the application gives that up.
            return connect(through: shared, .tryingAgain)
        }
        central?.ended(self)
        isOver = true
        let told = CBError.error(for: error, orElse: .connectionFailed)
        post { peripheral in
            guard peripheral.endSession(self), let manager = peripheral.manager else { return }
            manager.delegate?.centralManager(manager, didFailToConnect: peripheral, error: told)
        }
    }

    // MARK: - Disconnecting

    /// Ends the connection, or the attempt, since the application wants that.
    func cancel() async {
        await release()
        guard !isOver else { return }
        isOver = true
        post { peripheral in
            // The next one may have begun already.
            _ = peripheral.endSession(self)
            guard let manager = peripheral.manager else { return }
            manager.delegate?.centralManager(
                manager, didDisconnectPeripheral: peripheral, timestamp: CFAbsoluteTimeGetCurrent(),
                isReconnecting: false, error: nil)
        }
    }

    /// Ends the connection, or the attempt, since nobody is interested in it any more.
    func abandon() async {
        central?.abandoned(self)
        await release()
    }

    /// The adapter is no longer on. The manager's state tells; nothing is told of the peripheral.
    func adapterIsOff() {
        attempt?.cancel()
        attempt = nil
        end()
    }

    private func release() async {
        attempt?.cancel()
        attempt = nil
        forget()
        let link = link
        self.link = nil
        await link?.remove(self)
    }

    private func end() {
        isOver = true
        link = nil
        forget()
        post { _ = $0.endSession(self) }
    }

    /// What held on this link only.
    private func forget() {
        operations.removeAll()
        configurations = [:]
        notifying = []
    }

    func linkEnded(_ reason: BluetoothError) {
        guard link != nil else { return }
        link = nil
        forget()
        // A reset of the adapter is told by the manager's state.
        if reason.isEndOfAdapter { return end() }
        if attempt != nil, let shared = central?.shared, shared.state == .poweredOn {
            // The application has not been told of the link: it is still to come.
            return connect(through: shared, ConnectOptions(isReconnecting: isReconnecting))
        }
        let told = CBError.error(for: reason, orElse: .peripheralDisconnected)
        let isReconnecting = isReconnecting && central?.shared?.state == .poweredOn
        if isReconnecting, let shared = central?.shared {
            isAgain = true
            connect(through: shared, .reconnecting)
        } else {
            isOver = true
            central?.ended(self)
        }
        post { peripheral in
            guard let manager = peripheral.manager else { return }
            if isReconnecting {
                // One that the application is ending is not told of as to come back.
                guard peripheral.advance(self, from: .connected, to: .connecting) else { return }
                peripheral.stopNotifying()
                peripheral.commands = CommandQueue()
            } else {
                _ = peripheral.endSession(self)
            }
            manager.delegate?.centralManager(
                manager, didDisconnectPeripheral: peripheral, timestamp: CFAbsoluteTimeGetCurrent(),
                isReconnecting: isReconnecting, error: told)
        }
    }

    // MARK: - What the link tells

    func mtuChanged(to mtu: Int) {
        tell { $0.commandLength = mtu - 3 }
    }

    func nameChanged(to name: String) {
        tell { peripheral in
            guard peripheral.currentName != name else { return }
            peripheral.currentName = name
            peripheral.delegate?.peripheralDidUpdateName(peripheral)
        }
    }

    func servicesChanged(in handles: ClosedRange<AttributeHandle>) {
        configurations = configurations.filter { !handles.contains($0.value) }
        notifying = notifying.filter { !handles.contains($0) }
        tell { peripheral in
            let gone = peripheral.$attributes.withLock { $0.invalidate(handles) }
            self.remember(peripheral)
            peripheral.delegate?.peripheral(peripheral, didModifyServices: gone)
        }
    }

    func received(_ value: [UInt8], of handle: AttributeHandle) {
        tell { peripheral in
            guard let characteristic = peripheral.attributes.characteristic(at: handle) else { return }
            characteristic.currentValue = Data(value)
            peripheral.delegate?.peripheral(peripheral, didUpdateValueFor: characteristic, error: nil)
        }
    }

    // MARK: - Operations

    func enqueue(_ operation: @escaping Operation) {
        guard link != nil else { return }
        operations.add { await operation(self) }
    }
}

extension BluetoothError {
    /// Whether it was the adapter that ended what was under way.
    fileprivate var isEndOfAdapter: Bool {
        self == .adapterRemoved || self == .adapterClosed || self == .disconnected(.adapterReset)
    }
}
