import BluetoothLE
import CoreBluetooth
import CoreBluetoothTesting
import Synchronization
import VirtualRadio

/// A radio, and what the managers of a test remember, which is gone with it.
final class Stage: Sendable {
    let radio: VirtualRadio
    let stateDirectory: URL
    /// An adapter without references disconnects its peers.
    private let adapters = Mutex<[Adapter]>([])

    init(time: VirtualRadio.Time = .system) {
        radio = VirtualRadio(time: time)
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
        try BluetoothEnvironment.with(
            transport: BluetoothTransport(port), stateDirectory: stateDirectory, pairing: pairing, body)
    }
}
