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
/// parallel, each on its own radio. Nothing is stored on disk.
public final class TestRadio: Sendable {
    /// The simulated radio that all devices of the test share. With `.manual` time, `pass(_:)` and every call that
    /// waits advance it.
    public var radio: VirtualRadio { air.radio }
    /// The app's own adapter. If the app creates managers outside `app`, such as in a task or on their own queue, set
    /// `BluetoothEnvironment.transport = air.transport` for the whole process. Such tests cannot run in parallel.
    public var transport: BluetoothTransport { air.transport }
    let air: TestAir
    private let memory: MemoryState
    private let seed: UInt64
    private let peripherals = Mutex<[VirtualPeripheral]>([])
    private let prompts = Mutex<(@Sendable (PairingPrompt) async throws -> PairingPrompt.Answer)?>(nil)

    /// Creates a radio with an adapter for the app.
    ///
    /// - Parameters:
    ///   - time: how time passes. With `.manual`, time advances only while a call of this product waits, so that a
    ///     timeout takes no real time.
    ///   - seed: the seed of everything random on the air.
    ///   - supportsExtendedAdvertising: whether the app's adapter does, which `CBCentralManager.supports(_:)` reports.
    public init(
        time: VirtualRadio.Time = .system, seed: UInt64 = 1, supportsExtendedAdvertising: Bool = false
    ) {
        air = TestAir(VirtualRadio(time: time, seed: seed)) {
            $0.hasExtendedAdvertising = supportsExtendedAdvertising
        }
        self.seed = seed
        memory = MemoryState(seed: seed)
        RadioCaptures.current?.add(air.capture)
    }

    deinit {
        air.end()
        AdapterSimulation.forget(transport)
    }

    // MARK: - The app

    /// Runs `body`, in which an app creates its managers. They use this radio, and keep no state beyond this test.
    ///
    /// Bonds and restoration state last as long as the radio. To end the app and launch it again with them, call
    /// `relaunch`.
    public func app<Value>(_ body: () throws -> Value) rethrows -> Value {
        try BluetoothEnvironment.with(transport: transport, memory: memory, pairing: pairing, body)
    }

    /// Ends the app and launches it again, as the system does with an app in the background. Managers with a restore
    /// identifier restore their state.
    ///
    ///     var app: App? = air.app { App() }
    ///     …
    ///     await air.relaunch(&app) { App() }
    ///
    /// - Parameters:
    ///   - app: the only reference to the app: its managers must not outlive it.
    ///   - body: creates the app again.
    public func relaunch<App>(
        _ app: inout App?, isolation: isolated (any Actor)? = #isolation, fileID: String = #fileID, line: Int = #line,
        _ body: () throws -> App
    ) async rethrows {
        await closingAdapter(TestCall(fileID, line)) {
            app = nil
            // Managers leave on the queue that delivers.
            await air.deliver()
        }
        await settle(fileID: fileID, line: line)
        app = try self.app(body)
    }

    /// Answers the prompts that a system shows to its user while devices pair, from the next pairing on. Without it,
    /// pairing needs no user and is not authenticated. If `answer` throws, the user cancels.
    ///
    ///     air.onPairingPrompt { prompt in
    ///         guard case .enterPasskey = prompt else { return .accept }
    ///         return .passkey(try await sensor.shownPasskey())
    ///     }
    public func onPairingPrompt(_ answer: @escaping @Sendable (PairingPrompt) async throws -> PairingPrompt.Answer) {
        prompts.withLock { $0 = answer }
        // The app may be running already.
        AdapterSimulation.setPairing(pairing, at: transport)
    }

    private var pairing: BluetoothPairing {
        prompts.withLock { $0 }.map { BluetoothPairing(answering: $0) } ?? BluetoothEnvironment.pairing
    }

    // MARK: - Devices

    /// Adds a peripheral to the radio. It stays for as long as the radio exists.
    public func add(
        _ peripheral: VirtualPeripheral, fileID: String = #fileID, line: Int = #line
    ) async throws {
        let number = air.nextNumber(), place = air.place(VirtualPeripheral.configure)
        let port = TestPort(place.port, air.capture, adapter: number, (peripheral.script, place))
        let adapter = try await air.passing(TestCall(fileID, line)) { [seed, memory] in
            try await peripheral.appear(
                at: place, port: port, seed: seed &+ UInt64(number), identifier: { memory.identifier(for: $0) })
        }
        air.include(adapter, "the peripheral \(peripheral.label)")
        peripherals.withLock { $0.append(peripheral) }
    }

    /// Makes signals fade from time to time, as drawn from a seed. With `.manual` time, the same seed always produces
    /// the same weather. Most fades are too short for a link to be lost. This replaces the current weather.
    public func weather(seed: UInt64) { radio.setWeather(seed: seed) }

    /// Ends the weather.
    public func clearWeather() { radio.clearWeather() }

    /// All packets between the hosts and the controllers of the test so far, in btsnoop format, for Wireshark and
    /// `ble decode`. Adapter 0 is the app's; the others have the order in which they were added.
    ///
    /// The trait `.radioCapture` attaches it to a test that fails.
    public var capture: Data { air.capture.data }

    // MARK: - The app's own adapter

    /// Switches Bluetooth off: all managers, including later ones, are `.poweredOff`, and every link is disconnected.
    /// With `.manual` time, the radio's time advances until the adapter is closed.
    public func simulatePowerOff(fileID: String = #fileID, line: Int = #line) async {
        await closingAdapter(TestCall(fileID, line)) { await AdapterSimulation.setPower(false, at: transport) }
    }

    /// Switches Bluetooth on again.
    public func simulatePowerOn() async { await AdapterSimulation.setPower(true, at: transport) }

    /// Removes the adapter for a moment: the managers are `.resetting`, then `.poweredOn` again.
    public func simulateReset() {
        air.port.unplug()
        air.port.plugIn()
    }

    /// Changes whether the app may use Bluetooth. With any value other than `.allowedAlways`, all managers, including
    /// later ones, are `.unauthorized`.
    public func simulateAuthorization(
        _ authorization: CBManagerAuthorization, fileID: String = #fileID, line: Int = #line
    ) async {
        await closingAdapter(TestCall(fileID, line)) {
            await AdapterSimulation.setAuthorization(authorization, at: transport)
        }
    }

    /// Makes a change that may close the app's adapter. With `.manual` time, advances time until the adapter is
    /// released.
    private func closingAdapter(
        _ call: TestCall, isolation: isolated (any Actor)? = #isolation, _ change: () async -> Void
    ) async {
        let runner = radio.time == .manual ? AdapterSimulation.runner(at: transport) : nil
        await change()
        guard let runner, runner.isClosed else { return }
        await air.release(runner, call)
    }
}
