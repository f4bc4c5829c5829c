import BluetoothAdapter
import BluetoothLE
import CoreBluetooth
import Synchronization
import VirtualRadio

extension TestRadio {
    /// The adapter of a declared device, as long as that device exists.
    struct Device: Sendable {
        weak let runner: AdapterRunner?
    }

    func include(_ adapter: Adapter) {
        devices.withLock { devices in
            devices.removeAll { $0.runner == nil }
            devices.append(Device(runner: adapter.runner))
        }
    }

    /// Waits until everything that was sent over links has arrived, and the app's delegates have been called for it.
    /// The same holds for everything that the app and the devices do in response. Then a test can check the state of
    /// the app.
    ///
    ///     try await sensor.simulateValueUpdate(Data([0, 72]), for: "2A37")
    ///     await air.settle()
    ///     #expect(app.beatsPerMinute == 72)
    ///
    /// When this returns, no packet is queued on either side or in transit, no request is waiting for its response, and
    /// no callback is waiting for the app's queue. This does not depend on timing. It does not wait for actions that
    /// may take any time: an advertisement being received, a connection being established, a link being lost, a
    /// `VirtualPeripheralDelegate` callback for an event that needs no response, or a task of the app. For a
    /// subscription or a connection, use `VirtualPeripheral.waitForSubscription(to:)` or `waitForConnection()`.
    ///
    /// With `.manual` time, the radio's time advances until then. If the app's queue is blocked, this waits until the
    /// queue continues.
    public func settle() async {
        // Every action responds to a call or a packet, and both are counted. If every queue was found empty in a round
        // and the counts have not changed, nothing is left to do.
        var before = work
        while true {
            await AdapterSimulation.waitUntilDelivered(at: transport)
            await waitUntilIdle()
            let after = work
            if after == before { return }
            before = after
        }
    }

    /// Waits until nothing is in progress between the adapters.
    private func waitUntilIdle() async {
        let runners = runners
        guard radio.time == .manual else {
            for runner in runners { await runner.waitUntilIdle() }
            return await radio.waitUntilQuiet()
        }
        while !(runners.allSatisfy(\.isIdle) && radio.isQuiet) { await radio.advance(by: .milliseconds(10)) }
    }

    /// The number of calls and packets that each adapter has processed so far.
    private var work: [ObjectIdentifier: UInt64] {
        Dictionary(runners.map { (ObjectIdentifier($0), $0.work) }) { first, _ in first }
    }

    private var runners: [AdapterRunner] {
        let devices = devices.withLock { $0.compactMap(\.runner) }
        return devices + [AdapterSimulation.runner(at: transport)].compactMap { $0 }
    }
}
