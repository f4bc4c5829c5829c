import BluetoothAdapter
import BluetoothBase
import BluetoothSimulation
import CoreBluetooth
import Foundation
import VirtualRadio

/// Worlds in which an app meets declared peripherals.
extension World {
    /// Adds a peripheral to the world, and starts what it does there. In a world it cannot pair.
    ///
    ///     world.add(sensor) { sensor in
    ///         try await sensor.waitForSubscription(to: "2A37")
    ///         try await sensor.simulateValueUpdate(Data([0, 72]), for: "2A37")
    ///     }
    ///
    /// - Parameters:
    ///   - peripheral: a peripheral that is not part of any world or radio.
    ///   - behavior: what it does, once it is on the air. It waits with `world.clock`. An error ends it. Faults may
    ///     remove its controller or end its links at any time, so such an error is expected. Any other error, such as
    ///     one for an unknown characteristic, is a violation of the rule `application`.
    public func add(
        _ peripheral: VirtualPeripheral,
        behavior: @escaping @Sendable (VirtualPeripheral) async throws -> Void = { _ in }
    ) {
        let index = stationCount, station = addStation(VirtualPeripheral.configure)
        let place = Place(
            surroundings: WorldSurroundings(self), port: station, controller: controller(index),
            neighbors: { [unowned self] in (0..<stationCount).filter { $0 != index }.map { controller($0) } },
            restart: { [unowned self] in
                unplug(index)
                plugIn(index)
            })
        let port = TestPort(station, nil, adapter: index, (peripheral.script, place))
        let seed = seed &+ UInt64(index)
        spawn { [clock, unowned self] in
            do {
                _ = try await peripheral.appear(
                    at: place, port: port, seed: seed, hasSecurity: false, identifier: { _ in UUID() })
                try await behavior(peripheral)
            } catch is CancellationError {
                // The world ends.
            } catch let error as BluetoothError where error.isCausedByFault {
                // Faults of the radio are expected.
            } catch {
                fail(.application, "the peripheral \(peripheral.label) ended with an error: \(error)")
            }
            // The peripheral stays until the world ends.
            try? await clock.sleep(until: Instant(nanoseconds: .max), tolerance: nil)
            withExtendedLifetime(peripheral) {}
        }
    }

    /// Launches an app at a new station: see `Station.launch(_:)`.
    @discardableResult
    public func app<Application: AnyObject>(_ body: () throws -> Application) throws -> Application {
        try addStation().launch(body)
    }
}

extension BluetoothError {
    /// Whether a fault of the radio, of a controller or of a peer can cause this error, or the end of the world.
    fileprivate var isCausedByFault: Bool {
        switch kind {
        case .transport, .adapter, .adapterClosed, .adapterRemoved, .disconnected, .timedOut, .answerLost,
            .peerNotResponding, .cancelled, .notReady, .connectionFailed, .refusedByController, .tooManyPending,
            .overflow:
            true
        default: false
        }
    }
}

/// The surroundings of a peripheral in a world, which owns it.
private final class WorldSurroundings: Surroundings {
    private unowned let world: World

    init(_ world: World) { self.world = world }

    var now: Instant { world.now }

    func changeAir(_ body: (inout Air, Instant) -> Void) { world.withAir(body) }

    func schedule(at instant: Instant, _ action: @escaping @Sendable () -> Void) {
        world.schedule(at: instant, action)
    }

    func start(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> { world.spawn(body) }

    func passing<Value: Sendable>(
        _ call: TestCall, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await body()
    }
}
