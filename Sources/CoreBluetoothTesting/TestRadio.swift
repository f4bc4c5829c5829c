import BluetoothLE
import CoreBluetooth
import Foundation
import Synchronization
import VirtualRadio

/// A radio for a test: the adapter of the tested app, and the devices declared around it.
///
///     let air = TestRadio()
///     let sensor = VirtualPeripheral(name: "Heart", services: [...])
///     try await air.add(sensor)
///     let manager = air.app { HeartRateManager() }
///
/// The real stack runs on both sides, down to the packets. Only the controllers are simulated. Tests may run in
/// parallel, each on its own radio.
public final class TestRadio: Sendable {
    /// The simulated radio that all devices of the test share. With `.manual` time, `radio.advance(by:)` advances it.
    public let radio: VirtualRadio
    /// The app's own adapter. If the app creates managers outside `app`, such as in a task or on their own queue, set
    /// `BluetoothEnvironment.transport = air.transport` for the whole process. Such tests cannot run in parallel.
    public let transport: BluetoothTransport
    let port: VirtualRadio.Port
    private let stateDirectory: URL
    private let peripherals = Mutex<[VirtualPeripheral]>([])
    let devices = Mutex<[Device]>([])

    /// Creates a radio with an adapter for the app.
    ///
    /// - Parameter time: how time passes. With `.manual`, time advances only through `radio.advance(by:)`, and a
    ///   timeout takes no real time.
    public init(time: VirtualRadio.Time = .system) {
        radio = VirtualRadio(time: time)
        port = radio.addController()
        transport = BluetoothTransport(port)
        stateDirectory = StateDirectories.add()
    }

    deinit {
        AdapterSimulation.forget(transport)
        try? FileManager.default.removeItem(at: stateDirectory)
    }

    /// Runs `body`, in which an app creates its managers. They use this radio, and keep no state beyond this test.
    public func app<Value>(_ body: () throws -> Value) rethrows -> Value {
        try BluetoothEnvironment.with(transport: transport, stateDirectory: stateDirectory, body)
    }

    /// Adds a peripheral to the radio. It stays for as long as the radio exists.
    public func add(_ peripheral: VirtualPeripheral) async throws {
        include(try await peripheral.appear(on: radio, near: port))
        peripherals.withLock { $0.append(peripheral) }
    }

    // MARK: - The app's own adapter

    /// Switches Bluetooth off: all managers, including later ones, are `.poweredOff`, and every link is disconnected.
    /// With `.manual` time, the radio's time advances until the adapter is closed.
    public func simulatePowerOff() async {
        await closingAdapter { await AdapterSimulation.setPower(false, at: transport) }
    }

    /// Switches Bluetooth on again.
    public func simulatePowerOn() async { await AdapterSimulation.setPower(true, at: transport) }

    /// Removes the adapter for a moment: the managers are `.resetting`, then `.poweredOn` again.
    public func simulateReset() {
        port.unplug()
        port.plugIn()
    }

    /// Changes whether the app may use Bluetooth. With any value other than `.allowedAlways`, all managers, including
    /// later ones, are `.unauthorized`.
    public func simulateAuthorization(_ authorization: CBManagerAuthorization) async {
        await closingAdapter { await AdapterSimulation.setAuthorization(authorization, at: transport) }
    }

    /// Makes a change that may close the app's adapter. With `.manual` time, advances time until the adapter is
    /// released.
    private func closingAdapter(_ change: () async -> Void) async {
        let runner = radio.time == .manual ? AdapterSimulation.runner(at: transport) : nil
        await change()
        guard let runner, runner.isClosed else { return }
        while !runner.isReleased { await radio.advance(by: .milliseconds(1)) }
    }
}
