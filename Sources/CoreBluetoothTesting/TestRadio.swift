import BluetoothLE
import CoreBluetooth
import Foundation
import Synchronization
import VirtualRadio

/// A radio for a test: the adapter of the app that is tested, and whatever is declared to be around it.
///
///     let air = TestRadio()
///     let sensor = VirtualPeripheral(name: "Heart", advertising: ["180D"], services: [...])
///     try await air.add(sensor)
///     let manager = air.app { HeartRateManager() }
///
/// The real stack runs on both sides, down to the packets; only the controllers are simulated. Tests may run side by side,
/// each on a radio of its own.
public final class TestRadio: Sendable {
    public let radio: VirtualRadio
    /// The app's own adapter. Where its managers are made out of reach of `app`, such as in a task or on a queue of their
    /// own, `BluetoothEnvironment.transport = air.transport` has the whole process use it; such tests cannot run side by
    /// side.
    public let transport: BluetoothTransport
    let port: VirtualRadio.Port
    private let stateDirectory: URL
    private let peripherals = Mutex<[VirtualPeripheral]>([])

    /// - Parameter time: how time passes; with `.manual` it is `radio.advance(by:)` that makes it, and a time-out takes none.
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

    /// Runs `body`, in which an app makes its managers: they use this radio, and remember nothing beyond this test.
    public func app<Value>(_ body: () throws -> Value) rethrows -> Value {
        try BluetoothEnvironment.with(transport: transport, stateDirectory: stateDirectory, body)
    }

    /// Has a peripheral appear, and stay as long as this radio.
    public func add(_ peripheral: VirtualPeripheral) async throws {
        try await peripheral.appear(on: radio, near: port)
        peripherals.withLock { $0.append(peripheral) }
    }

    // MARK: - The app's own adapter

    /// Switches Bluetooth off: the managers are `.poweredOff`, and every link is gone. So is it for those made later.
    public func simulatePowerOff() async { await AdapterSimulation.setPower(false, at: transport) }

    /// Switches Bluetooth on again.
    public func simulatePowerOn() async { await AdapterSimulation.setPower(true, at: transport) }

    /// Takes the adapter away for a moment: the managers are `.resetting`, and `.poweredOn` again.
    public func simulateReset() {
        port.unplug()
        port.plugIn()
    }

    /// Changes whether the app may use Bluetooth: below `.allowedAlways` its managers are `.unauthorized`, whether they are
    /// there already or are made later.
    public func simulateAuthorization(_ authorization: CBManagerAuthorization) async {
        await AdapterSimulation.setAuthorization(authorization, at: transport)
    }
}
