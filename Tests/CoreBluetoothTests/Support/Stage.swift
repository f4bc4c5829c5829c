import BluetoothLE
import CoreBluetooth
import CoreBluetoothTesting
import Synchronization
import VirtualRadio

/// A radio, and what the managers of a test remember, which is gone with it.
final class Stage: Sendable {
    let radio: VirtualRadio
    /// Empty unless managers store files, or a test does.
    let stateDirectory: URL
    /// Nil if managers store files.
    private let memory: MemoryState?
    /// An adapter without references disconnects its peers.
    private let adapters = Mutex<[Adapter]>([])

    /// - Parameter storesFiles: whether managers keep their state in `stateDirectory`. In memory otherwise: a process
    ///   that is meant to trap leaves no files.
    init(time: VirtualRadio.Time = .system, storesFiles: Bool = false) {
        radio = VirtualRadio(time: time)
        memory = storesFiles ? nil : MemoryState(seed: .random(in: 0 ... .max))
        stateDirectory = StateDirectories.add()
    }

    deinit {
        try? FileManager.default.removeItem(at: stateDirectory)
    }

    /// Keeps an adapter open for as long as the stage is there.
    func keep(_ adapter: Adapter) { adapters.withLock { $0.append(adapter) } }

    /// Makes managers that use a controller.
    func with<Value>(
        _ port: VirtualRadio.Port, pairing: BluetoothPairing? = nil, _ body: () throws -> Value
    ) rethrows -> Value {
        let transport = BluetoothTransport(port)
        guard let memory else {
            return try BluetoothEnvironment.with(
                transport: transport, stateDirectory: stateDirectory, pairing: pairing, body)
        }
        return try BluetoothEnvironment.with(
            transport: transport, memory: memory, pairing: pairing ?? BluetoothEnvironment.pairing, body)
    }
}
