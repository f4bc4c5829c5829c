import BluetoothATT
import BluetoothDocuments
import BluetoothLE
import CoreBluetooth
import Foundation
import Synchronization

/// The values of the peripheral's characteristics, and its services.
extension VirtualPeripheral {
    /// Changes a value, and notifies or indicates it to subscribers.
    ///
    /// - Throws: `CBError(.invalidParameters)` if no characteristic has this UUID; a `BluetoothError` if the value
    ///   could not be sent. A subscriber that disconnects or unsubscribes in the meantime is not an error.
    public func simulateValueUpdate(
        _ value: Data, for uuid: some CBUUIDConvertible, fileID: String = #fileID, line: Int = #line
    ) async throws {
        let characteristics = try characteristics(uuid.bluetooth)
        try await passing(TestCall(fileID, line)) {
            for characteristic in characteristics {
                if await characteristic.value != nil { try await characteristic.setValue([UInt8](value)) }
                for subscriber in characteristic.subscribers { try await subscriber.tell([UInt8](value)) }
            }
        }
    }

    /// The value that the peripheral stores, which a central may have written; nil if its delegate answers.
    ///
    /// - Throws: `CBError(.invalidParameters)` if no characteristic has this UUID.
    public func value(
        of uuid: some CBUUIDConvertible, fileID: String = #fileID, line: Int = #line
    ) async throws -> Data? {
        let found = try characteristics(uuid.bluetooth)
        return try await passing(TestCall(fileID, line)) { await found[0].value.map { Data($0) } }
    }

    /// Waits until a central, such as the app, has subscribed to a characteristic.
    ///
    /// - Throws: `CBError(.invalidParameters)` if there is no such characteristic.
    public func waitForSubscription(
        to uuid: some CBUUIDConvertible, fileID: String = #fileID, line: Int = #line
    ) async throws {
        let uuid = uuid.bluetooth, found = try characteristics(uuid)
        try await passing(TestCall(fileID, line)) { [waiters] in
            _ = try await waiters.wait { event in
                if case .subscribed(uuid) = event { true } else { false }
            } unless: {
                found.contains { !$0.subscribers.isEmpty } ? .subscribed(uuid) : nil
            }
        }
    }

    /// Returns the next value that a central, such as the app, has written to a characteristic, and waits if there is
    /// none yet. Each value is returned once, in the order written.
    ///
    ///     app.switchOn()
    ///     #expect(try await lamp.waitForWrite(to: "FF01") == Data([1]))
    ///
    /// The peripheral keeps the last 1000 values that no call has returned yet.
    ///
    /// - Throws: `CBError(.invalidParameters)` if there is no such characteristic; `NothingHappened`.
    public func waitForWrite(
        to uuid: some CBUUIDConvertible, fileID: String = #fileID, line: Int = #line
    ) async throws -> Data {
        let uuid = uuid.bluetooth
        _ = try characteristics(uuid)
        return try await passing(TestCall(fileID, line)) { [waiters] in try await waiters.nextWrite(to: uuid) }
    }

    private func characteristics(_ uuid: BluetoothUUID) throws -> [PublishedCharacteristic] {
        let found = all(uuid)
        guard !found.isEmpty else { throw CBError(.invalidParameters) }
        return found
    }

    private func all(_ uuid: BluetoothUUID) -> [PublishedCharacteristic] {
        _ = present
        return settings.withLock { $0.published }.flatMap(\.characteristics).filter { $0.uuid == uuid }
    }

    // MARK: - Services

    /// Replaces the services: those that differ from before are removed and added. Centrals receive a
    /// Service Changed indication, and the app's delegate with `peripheral(_:didModifyServices:)`.
    ///
    /// - Throws: `CBError(.invalidParameters)` if a service includes one that does not exist.
    public func simulateServiceChange(
        _ services: [VirtualService], fileID: String = #fileID, line: Int = #line
    ) async throws {
        let adapter = present.adapter
        guard let events = events.withLock({ $0 }), var layout = settings.withLock({ $0.layout }) else { return }
        // A change that is refused leaves everything as it was.
        let change = try layout.replace(with: services)
        settings.withLock { [layout] settings in
            settings.services = services
            settings.layout = layout
        }
        let withdrawn = settings.withLock { settings in
            settings.published.filter { change.withdrawn.contains($0.handles.declaration) }
        }
        let published = try await passing(TestCall(fileID, line)) {
            if !withdrawn.isEmpty { try await adapter.withdraw(withdrawn) }
            return change.published.isEmpty ? [] : try await adapter.publish(change.published, events: events)
        }
        settings.withLock { settings in
            settings.published.removeAll { change.withdrawn.contains($0.handles.declaration) }
            settings.published += published
        }
        noteAttributes()
    }

    /// Changes the Device Name, if the peripheral has one, and the name in all payloads that have one. The app learns
    /// it from the next advertisement, or on its next connection. A payload without enough room has a shortened name.
    public func simulateNameChange(_ name: String, fileID: String = #fileID, line: Int = #line) async throws {
        settings.withLock { settings in
            settings.advertisements = settings.advertisements.map { $0.named(name) }
            settings.name = name
        }
        let found = all(.deviceName)
        try await passing(TestCall(fileID, line)) {
            for one in found { try await one.setValue([UInt8](name.utf8)) }
            try await self.advertise()
        }
    }

    /// Publishes the services that the peripheral has at first.
    func publish() async throws {
        guard let events = events.withLock({ $0 }) else { return }
        let definitions = try settings.withLock { settings in
            let layout =
                try recording.map { PeripheralLayout($0.database.definitions, $0.database.handles) }
                ?? PeripheralLayout(settings.services, name: settings.name ?? "")
            settings.layout = layout
            return layout.definitions
        }
        let published = try await present.adapter.publish(definitions, events: events)
        settings.withLock { $0.published = published }
        noteAttributes()
    }

    /// Tells the script where the attributes are.
    private func noteAttributes() {
        let entries = settings.withLock { $0.layout?.entries ?? [] }
        var table = AttributeTable()
        for entry in entries where entry.definition.uuid != .genericAccess && entry.definition.uuid != .genericAttribute
        {
            table.add(entry.definition, entry.handles)
        }
        script.attributes = table
    }
}

extension Subscriber {
    /// Sends a notification or an indication, depending on the subscription.
    fileprivate func tell(_ value: [UInt8]) async throws(BluetoothError) {
        do throws(BluetoothError) {
            do throws(BluetoothError) {
                try await notify(value)
            } catch {
                guard error.code == .notSubscribed else { throw error }
                try await indicate(value)
            }
        } catch {
            switch error.code {
            case .disconnected, .notSubscribed: return
            default: throw error
            }
        }
    }
}
