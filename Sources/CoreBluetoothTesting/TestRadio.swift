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
/// The real stack runs on both sides, down to the packets; only the controllers are simulated. Tests may run side by
/// side, each on its own radio.
public final class TestRadio: Sendable {
    public let radio: VirtualRadio
    /// The app's own adapter. If its managers are created outside `app`, such as in a task or on their own queue,
    /// `BluetoothEnvironment.transport = air.transport` makes the whole process use it; such tests cannot run side by
    /// side.
    public let transport: BluetoothTransport
    let port: VirtualRadio.Port
    private let stateDirectory: URL
    private let peripherals = Mutex<[VirtualPeripheral]>([])
    let devices = Mutex<[Device]>([])

    /// - Parameter time: how time passes; with `.manual` only `radio.advance(by:)` advances it, and a timeout takes no
    ///   real time.
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

    /// Runs `body`, in which an app creates its managers: they use this radio, and keep no state beyond this test.
    public func app<Value>(_ body: () throws -> Value) rethrows -> Value {
        try BluetoothEnvironment.with(transport: transport, stateDirectory: stateDirectory, body)
    }

    /// Makes a peripheral appear. It stays as long as this radio.
    public func add(_ peripheral: VirtualPeripheral) async throws {
        include(try await peripheral.appear(on: radio, near: port))
        peripherals.withLock { $0.append(peripheral) }
    }

    // MARK: - The app's own adapter

    /// Switches Bluetooth off: all managers, including later ones, are `.poweredOff`, and every link is disconnected. With
    /// `.manual` time, time passes on the radio for as long as that takes.
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

    /// Changes whether the app may use Bluetooth: below `.allowedAlways` its managers, present and later ones, are
    /// `.unauthorized`.
    public func simulateAuthorization(_ authorization: CBManagerAuthorization) async {
        await closingAdapter { await AdapterSimulation.setAuthorization(authorization, at: transport) }
    }

    /// Makes a change that may close the app's adapter, and lets time pass until that is released.
    private func closingAdapter(_ change: () async -> Void) async {
        let runner = radio.time == .manual ? AdapterSimulation.runner(at: transport) : nil
        await change()
        guard let runner, runner.isClosed else { return }
        while !runner.isReleased { await radio.advance(by: .milliseconds(1)) }
    }
}
