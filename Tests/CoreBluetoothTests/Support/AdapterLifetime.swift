import BluetoothAdapter
import VirtualRadio

@testable import CoreBluetooth

/// Watches the adapter that the managers at a controller share, without keeping it.
final class AdapterWatch: Sendable {
    private let adapter = WeakReference<AdapterRunner>()

    init(_ port: VirtualRadio.Port) { adapter.object = SharedAdapter.at(BluetoothTransport(port)).current }

    var isGone: Bool { adapter.object == nil }
}
