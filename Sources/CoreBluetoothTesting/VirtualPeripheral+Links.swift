import BluetoothLE
import CoreBluetooth
import Foundation
import Synchronization
import VirtualRadio

/// The links between the peripheral and centrals.
extension VirtualPeripheral {
    /// How many centrals are connected.
    public var connectionCount: Int { present.adapter.connections.count }

    /// Waits until a central, such as the app, has connected.
    public func waitForConnection(fileID: String = #fileID, line: Int = #line) async throws {
        let adapter = present.adapter
        try await passing(TestCall(fileID, line)) {
            // Subscribe before the check, so that no connection is missed.
            let events = adapter.events()
            guard adapter.connections.isEmpty else { return }
            for try await case .connected in events { return }
        }
    }

    /// Waits until no central is connected.
    public func waitForDisconnection(fileID: String = #fileID, line: Int = #line) async throws {
        let adapter = present.adapter
        try await passing(TestCall(fileID, line)) {
            let events = adapter.events()
            guard !adapter.connections.isEmpty else { return }
            for try await case .disconnected in events where adapter.connections.isEmpty { return }
        }
    }

    /// Whether the peripheral ignores connection requests from now on. An app's `connect` then fails with
    /// `CBError.connectionFailed` after some attempts, if the peripheral advertises.
    public func simulateConnectionRefusal(_ isRefusing: Bool = true) {
        let place = present.place
        place.surroundings.changeAir { air, _ in air[place.controller].faults.ignoresConnectionRequests = isRefusing }
    }

    /// Makes another program on the app's device connect and use the link until it ends. The app finds the peripheral
    /// with `retrieveConnectedPeripherals(withServices:)`. If the app connects, it shares this link; if it disconnects,
    /// the link remains.
    ///
    /// - Throws: if the app's adapter is off; `CBError(.operationNotSupported)` in a world.
    public func simulateConnection(fileID: String = #fileID, line: Int = #line) async throws {
        let device = present
        guard let radio = device.place.surroundings as? TestAir else { throw CBError(.operationNotSupported) }
        try await passing(TestCall(fileID, line)) {
            try await AdapterSimulation.connect(to: device.address, at: radio.transport)
        }
    }

    /// Ends the links. Data sent just before may be lost, as on the air.
    ///
    /// - Parameter error: the error for the app: `.peripheralDisconnected` if the peripheral disconnects, or
    ///   `.connectionTimeout` as after a supervision timeout. Other values act like `.peripheralDisconnected`.
    public func simulateDisconnection(
        _ error: CBError.Code = .peripheralDisconnected, fileID: String = #fileID, line: Int = #line
    ) async throws {
        let device = present
        if error == .connectionTimeout {
            device.place.surroundings.changeAir { air, now in
                air.dropLinks(of: device.place.controller, reason: .connectionTimeout, at: now)
            }
        } else {
            try await passing(TestCall(fileID, line)) {
                for connection in device.adapter.connections { try await connection.disconnect() }
            }
        }
    }

    /// Simulates a crash and a restart: links are lost without a disconnection, and it advertises again.
    public func simulateReset() { present.place.restart() }

    /// The ATT_MTU of the peripheral, in octets. A link has the smaller one of its two devices.
    public var mtu: Int { Int(script.mtu) }

    /// Changes the ATT_MTU of the peripheral, for later connections: the devices agree on it once for each link.
    public func simulateMTUChange(_ mtu: Int) { script.mtu = UInt16(clamping: mtu) }

    /// The current connection interval of the first link; nil without a link.
    public var connectionInterval: Duration? { present.adapter.connections.first?.parameters.interval }

    /// Asks all centrals for another connection interval, now and on later connections, and waits until it applies.
    ///
    /// - Parameter interval: 7.5 ms to 4 s.
    /// - Throws: a `BluetoothError` if a central refuses.
    public func simulateConnectionIntervalChange(
        _ interval: Duration, fileID: String = #fileID, line: Int = #line
    ) async throws {
        settings.withLock { $0.connectionInterval = interval }
        let adapter = present.adapter
        try await passing(TestCall(fileID, line)) {
            for connection in adapter.connections { try await connection.updateParameters(.init(every: interval)) }
        }
    }

    func handle(_ event: AdapterEvent) async {
        switch event {
        case .connected(let connection):
            await linksChanged()
            recording?.connected(connection, to: self)
            guard let interval = settings.withLock({ $0.connectionInterval }) else { return }
            // A central that refuses keeps its own interval, as with real hardware.
            run { try? await connection.updateParameters(.init(every: interval)) }
        case .disconnected(let connection, _):
            recording?.disconnected(connection)
            settings.withLock { $0.shownPasskey = nil }
            await linksChanged()
        case .pairingEnded: settings.withLock { $0.shownPasskey = nil }
        default: break
        }
    }
}

extension ConnectionParameters {
    /// The parameters for one interval, with a supervision timeout that allows it.
    fileprivate init(every interval: Duration) {
        self.init(
            minimumInterval: interval, maximumInterval: interval, supervisionTimeout: max(.seconds(4), interval * 7))
    }
}
