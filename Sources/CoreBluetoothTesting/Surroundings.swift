import BluetoothBase
import VirtualRadio

/// The air around a virtual device, and the time there: the radio of a test, or a world.
protocol Surroundings: AnyObject, Sendable {
    /// The current time.
    var now: Instant { get }
    /// Changes the air at the current instant.
    func changeAir(_ body: (inout Air, Instant) -> Void)
    /// Performs an action at an instant.
    func schedule(at instant: Instant, _ action: @escaping @Sendable () -> Void)
    /// Starts a task that runs until it ends or is cancelled.
    func start(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never>
    /// Lets time pass until `body` returns, unless time passes anyway.
    ///
    /// - Parameter call: the call of the test.
    /// - Throws: the errors of `body`, or `NothingHappened`.
    func passing<Value: Sendable>(
        _ call: TestCall, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value
}

/// The place of a virtual device in its surroundings.
struct Place: Sendable {
    let surroundings: any Surroundings
    let port: any PacketPort
    let controller: ControllerID
    /// The controllers to which the device has a distance.
    let neighbors: @Sendable () -> [ControllerID]
    /// Removes the controller, and restores it.
    let restart: @Sendable () -> Void

    func setProximity(_ proximity: TestRadio.Proximity) {
        let neighbors = neighbors()
        surroundings.changeAir { air, now in
            for neighbor in neighbors {
                air.setPathLoss(between: controller, and: neighbor, to: proximity.pathLoss, at: now)
                air.setRSSIDeviation(between: controller, and: neighbor, to: proximity.deviation)
            }
        }
    }
}
