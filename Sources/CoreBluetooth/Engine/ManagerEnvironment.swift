import BluetoothAdapter
import Foundation

/// The environment of a manager, fixed at creation: its adapter, its queue and clock, and the known peers.
@usableFromInline
struct ManagerEnvironment: Sendable {
    let transport: BluetoothTransport
    /// The place of the managers' state; nil if nothing is kept from run to run.
    let statePlace: StatePlace?
    /// The store of the bonds; nil if they last as long as the adapter is open.
    let bonds: (any BondStore)?
    let identities: PeerIdentities
    let adapter: SharedAdapter
    let pairing: BluetoothPairing
    /// The seed of the host; nil for a random one.
    let seed: UInt64?
    private let virtual: VirtualEnvironment?

    init() {
        transport = BluetoothEnvironment.transport
        pairing = BluetoothEnvironment.pairing
        virtual = BluetoothEnvironment.virtual
        seed = BluetoothEnvironment.memory?.seed
        if let virtual {
            statePlace = nil
            bonds = nil
            identities = virtual.identities
            adapter = virtual.adapter
        } else if let memory = BluetoothEnvironment.memory {
            statePlace = .memory(memory)
            bonds = memory.bonds
            identities = memory.identities
            adapter = .at(transport)
        } else {
            let directory = BluetoothEnvironment.stateDirectory
            statePlace = .directory(directory)
            bonds = Self.bondDirectory(
                in: directory, isChosen: BluetoothEnvironment.chosenStateDirectory != nil, for: transport
            ).map { FileBondStore(directory: $0.path) }
            identities = .kept(in: directory)
            adapter = .at(transport)
        }
    }

    /// The directory for bonds; nil if they are not kept.
    ///
    /// - Parameter isChosen: whether the program has set the state directory.
    static func bondDirectory(in directory: URL, isChosen: Bool, for transport: BluetoothTransport) -> URL? {
        isChosen || transport.isOfThisMachine ? directory.appendingPathComponent("bonds") : nil
    }

    /// The queue on which a manager's callbacks run.
    ///
    /// - Parameter queue: the queue passed to the manager; the main queue if nil.
    func queue(_ queue: DispatchQueue?) -> CallbackQueue {
        if let virtual { .virtual(virtual.queue(queue)) } else { .dispatch(queue ?? .main) }
    }

    /// The current time, for timestamps.
    var now: CFAbsoluteTime { virtual?.now ?? CFAbsoluteTimeGetCurrent() }
}
