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

    /// Waits until everything that was sent over links has arrived, and the app's delegates have been told of it; and so on
    /// for what the app and the devices do in turn. Then a test can look at what the app has become.
    ///
    ///     try await sensor.simulateValueUpdate(Data([0, 72]), for: "2A37")
    ///     await air.settle()
    ///     #expect(app.beatsPerMinute == 72)
    ///
    /// That is: no packet waits on either side or is on its way, no request waits for its answer, and no callback waits for
    /// the app's queue. Nothing is assumed about how long that takes. What may take any time is not waited for: that
    /// an advertisement is heard, a connection made, a link lost, a `VirtualPeripheralDelegate` told of what needs no answer,
    /// or a task of the app's own done. Wait for the first of these with
    /// `VirtualPeripheral.waitForSubscription(to:)` or `waitForConnection()`.
    ///
    /// With `.manual` time, time passes on the radio for as long as that takes. In an app whose queue is held up it waits
    /// until the queue goes on.
    public func settle() async {
        // Everything that is done is done in answer to a call or a packet, and both are counted. A round in which every queue was
        // seen empty and nothing was counted leaves nothing behind.
        var before = work
        while true {
            await AdapterSimulation.waitUntilDelivered(at: transport)
            await waitUntilIdle()
            let after = work
            if after == before { return }
            before = after
        }
    }

    /// Waits until nothing is under way between the adapters.
    private func waitUntilIdle() async {
        let runners = runners
        guard radio.time == .manual else {
            for runner in runners { await runner.waitUntilIdle() }
            return await radio.waitUntilQuiet()
        }
        while !(runners.allSatisfy(\.isIdle) && radio.isQuiet) { await radio.advance(by: .milliseconds(10)) }
    }

    /// How much each adapter has done so far.
    private var work: [ObjectIdentifier: UInt64] {
        Dictionary(runners.map { (ObjectIdentifier($0), $0.work) }) { first, _ in first }
    }

    private var runners: [AdapterRunner] {
        let devices = devices.withLock { $0.compactMap(\.runner) }
        return devices + [AdapterSimulation.runner(at: transport)].compactMap { $0 }
    }
}
