import BluetoothHCI

/// The controllers of the transport named `virtual`, which share ``VirtualRadio/shared``.
///
/// No Swift code names this class: `SharedAdapter` in `CoreBluetooth` looks it up by its name at run time.
package final class SharedController: LinkedController {
    package static func make() -> any PacketPort { VirtualRadio.shared.addController() }
}
