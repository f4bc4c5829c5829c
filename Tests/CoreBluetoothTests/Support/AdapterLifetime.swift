import BluetoothLE
import VirtualRadio

@testable import CoreBluetooth

/// Watches the adapter that the managers at a controller share, without keeping it.
final class AdapterWatch: Sendable {
    private let adapter: WeakReference<Adapter>

    @BluetoothEngine
    init(_ port: VirtualRadio.Port) {
        adapter = WeakReference()
        adapter.object = SharedAdapter.at(BluetoothTransport(port)).adapter
    }

    var isGone: Bool { adapter.object == nil }
}
