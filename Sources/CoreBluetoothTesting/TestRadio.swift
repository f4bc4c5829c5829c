import BluetoothLE
import CoreBluetooth
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
    /// How far something is from the app.
    public enum Proximity: Sendable, CaseIterable {
        /// Some centimetres.
        case immediate
        /// The same room.
        case near
        /// Another room.
        case far
        /// Too far to be heard. A link is lost when its supervision timeout has passed.
        case outOfRange

        /// What is lost on the way, in dB.
        var pathLoss: Int {
            switch self {
            case .immediate: 40
            case .near: 60
            case .far: 85
            case .outOfRange: 200
            }
        }
    }

    public let radio: VirtualRadio
    let port: VirtualRadio.Port
    private let stateDirectory: URL

    /// - Parameter time: how time passes; with `.manual` it is `radio.advance(by:)` that makes it, and a time-out takes none.
    public init(time: VirtualRadio.Time = .system) {
        radio = VirtualRadio(time: time)
        port = radio.addController()
        stateDirectory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "CoreBluetoothTesting-\(UUID().uuidString)", isDirectory: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: stateDirectory)
    }

    private var transport: BluetoothTransport { BluetoothTransport(port) }

    /// Runs `body`, in which an app makes its managers: they use this radio, and remember nothing beyond this test.
    public func app<Value>(_ body: () throws -> Value) rethrows -> Value {
        try BluetoothEnvironment.with(transport: transport, stateDirectory: stateDirectory, body)
    }

    /// Has a peripheral appear.
    public func add(_ peripheral: VirtualPeripheral) async throws {
        try await peripheral.appear(on: self)
    }

    // MARK: - The app's own adapter

    /// Switches Bluetooth off: the managers are `.poweredOff`, and every link is gone.
    public func simulatePowerOff() async { await AdapterSimulation.setPower(false, at: transport) }

    /// Switches Bluetooth on again.
    public func simulatePowerOn() async { await AdapterSimulation.setPower(true, at: transport) }

    /// Takes the adapter away for a moment: the managers are `.resetting`, and `.poweredOn` again.
    public func simulateReset() {
        port.unplug()
        port.plugIn()
    }

    /// Changes whether the app may use Bluetooth: below `.allowedAlways` its managers are `.unauthorized`.
    public func simulateAuthorization(_ authorization: CBManagerAuthorization) async {
        await AdapterSimulation.setAuthorization(authorization, at: transport)
    }
}
