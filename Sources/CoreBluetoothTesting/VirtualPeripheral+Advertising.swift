import BluetoothLE
import CoreBluetooth
import Foundation
import Synchronization

/// What the peripheral sends without being asked, and where it is.
extension VirtualPeripheral {
    /// The identifier by which the app under test knows the peripheral: that of its `CBPeripheral`.
    ///
    /// An app that stored it can retrieve the peripheral even if it is silent. With rotating addresses, the app sees a
    /// new identifier for each address. After pairing, the identifier of the paired `CBPeripheral` remains.
    public var identifier: UUID {
        let device = present
        return device.identifier(device.address)
    }

    /// Starts advertising again, as it does when it appears.
    public func simulateAdvertising(fileID: String = #fileID, line: Int = #line) async throws {
        settings.withLock { $0.isAdvertising = true }
        try await passing(TestCall(fileID, line)) { try await self.advertise() }
    }

    /// Advertises other payloads from now on.
    public func simulateAdvertising(
        _ advertisements: [VirtualAdvertisement], fileID: String = #fileID, line: Int = #line
    ) async throws {
        settings.withLock { $0.advertisements = advertisements }
        try await simulateAdvertising(fileID: fileID, line: line)
    }

    /// Stops advertising, so that it is no longer discovered. Its links remain.
    public func simulateSilence() {
        settings.withLock { $0.isAdvertising = false }
        stopSets()
    }

    /// Moves the peripheral. Out of range, links are lost after their supervision timeout.
    public func simulateProximityChange(_ proximity: TestRadio.Proximity) { present.place.setProximity(proximity) }

    /// Ends the advertising so far. Returns the number of the next one.
    @discardableResult
    private func stopSets() -> Int {
        let (sets, number) = settings.withLock { settings in
            settings.advertisingNumber += 1
            defer { settings.sets = [] }
            return (settings.sets, settings.advertisingNumber)
        }
        for set in sets { set.stop() }
        return number
    }

    /// Starts to advertise what is wanted now.
    func advertise() async throws {
        let number = stopSets()
        let wanted = settings.withLock { $0.isAdvertising ? $0.advertisements : [] }
        let isConnected = !present.adapter.connections.isEmpty
        let parameters = try wanted.filter { !isConnected || $0.isAdvertisedWhenConnected }
            .map { ($0.delay, try $0.parameters) }
        let adapter = present.adapter
        for (delay, parameters) in parameters {
            if delay > .zero {
                let surroundings = present.place.surroundings
                surroundings.schedule(at: surroundings.now.advanced(by: delay)) { [weak self, weak adapter] in
                    guard let self, let adapter else { return }
                    // A failure shows in the test: nothing is advertised.
                    run { [weak self] in try? await self?.add(parameters, number, on: adapter) }
                }
            } else {
                try await add(parameters, number, on: adapter)
            }
        }
    }

    private func add(_ parameters: AdvertisingParameters, _ number: Int, on adapter: Adapter) async throws {
        guard settings.withLock({ $0.advertisingNumber == number }) else { return }
        let set = try await adapter.addAdvertisingSet(parameters)
        let isWanted = settings.withLock { settings in
            if settings.advertisingNumber == number { settings.sets.append(set) }
            return settings.advertisingNumber == number
        }
        if !isWanted { set.stop() }
    }

    /// A link has begun or ended, which may change what is advertised.
    func linksChanged() async {
        let changes = settings.withLock { settings in
            settings.isAdvertising && settings.advertisements.contains { !$0.isAdvertisedWhenConnected }
        }
        if changes { try? await advertise() }
    }
}
