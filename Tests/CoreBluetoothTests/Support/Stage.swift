import CoreBluetooth
import CoreBluetoothTesting
import VirtualRadio

/// A radio, and what the managers of a test remember, which is gone with it.
final class Stage: Sendable {
    let radio: VirtualRadio
    let stateDirectory: URL

    init(time: VirtualRadio.Time = .system) {
        radio = VirtualRadio(time: time)
        stateDirectory = StateDirectories.add()
    }

    deinit {
        try? FileManager.default.removeItem(at: stateDirectory)
    }

    /// Makes managers that use a controller.
    func with<Value>(_ port: VirtualRadio.Port, _ body: () throws -> Value) rethrows -> Value {
        try BluetoothEnvironment.with(transport: BluetoothTransport(port), stateDirectory: stateDirectory, body)
    }
}
