import BluetoothAdapter
import BluetoothHost
import CoreBluetooth
import Dispatch

extension Station {
    /// Begins an application on `CoreBluetooth` at this station, as `World.spawn` begins one on `BluetoothLE`.
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
    /// The managers that `begin` creates share an adapter at this station. Their queues, the main queue among them, are
    /// queues of the world: each runs its blocks in order on the world's thread, and the seed decides what comes first of
    /// different queues, turns of hosts and tasks. The application does nothing on other threads or queues; what it
    /// is to do later it passes to `World.schedule`. State is not restored.
    ///
    /// The world holds the application until `World.end`, which closes its adapter.
    ///
    /// - Parameter begin: makes the application, with its managers.
    /// - Throws: what `begin` throws, or `BluetoothError` if there is no adapter.
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
            // Its managers leave first.
            world.schedule(at: world.now) { runner.close() }
        }
        return application
    }
}

/// The queues of a world that stand for those of Dispatch.
private final class WorldQueues: @unchecked Sendable {
    // Unchecked: used on the world's thread alone.

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
