import BluetoothAdapter
import BluetoothHost
import CoreBluetooth
import Dispatch

extension Station {
    /// Launches an application that uses `CoreBluetooth` at this station. For one that uses `BluetoothLE`, see
    /// `World.spawn`.
    ///
    ///     final class Phone: NSObject, CBCentralManagerDelegate {
    ///         private var central: CBCentralManager?
    ///
    ///         override init() {
    ///             super.init()
    ///             central = CBCentralManager(delegate: self, queue: nil)
    ///         }
    ///         …
    ///     }
    ///
    ///     try world.addStation().launch { Phone() }
    ///
    /// The managers that `begin` creates share an adapter at this station. Their queues, including the main queue,
    /// become queues of the world. Each queue runs its blocks in order on the world's thread. The seed decides the
    /// order between queues, turns of hosts, and tasks. The application must not use other threads or queues; use
    /// `World.schedule` for later work. State restoration is not supported.
    ///
    /// The world keeps the application until `World.end`, which closes its adapter.
    ///
    /// - Parameter begin: creates the application with its managers.
    /// - Throws: rethrows errors of `begin`, or throws `BluetoothError` if no adapter is available.
    @discardableResult
    public func launch<Application: AnyObject>(_ begin: () throws -> Application) throws -> Application {
        let world = self.world
        let runner = try AdapterRunner(self, options: .init(host: HostConfiguration(seed: world.order.next())))
        let queues = WorldQueues(world)
        let environment = VirtualEnvironment(
            runner, adapterQueue: WorldQueue(world), seed: world.order.next()
        ) { queues[$0] }
        let application: Application
        do {
            application = try environment.with(begin)
        } catch {
            runner.close()
            throw error
        }
        var held: Application? = application
        world.atEnd { [unowned world] in
            withExtendedLifetime(held) { held = nil }
            // The managers are released first.
            world.schedule(at: world.now) { runner.close() }
        }
        return application
    }
}

/// The world's replacements for Dispatch queues.
private final class WorldQueues: @unchecked Sendable {
    // Unchecked: only used on the world's thread.

    private unowned let world: World
    private let main: WorldQueue
    private var others: [(queue: DispatchQueue, stand: WorldQueue)] = []

    init(_ world: World) {
        self.world = world
        main = WorldQueue(world)
    }

    subscript(queue: DispatchQueue?) -> WorldQueue {
        guard let queue, queue !== DispatchQueue.main else { return main }
        if let known = others.first(where: { $0.queue === queue }) { return known.stand }
        others.append((queue, WorldQueue(world)))
        return others[others.count - 1].stand
    }
}
