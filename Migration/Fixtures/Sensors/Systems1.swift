import CoreBluetooth

/// Branches for Apple's systems only: on Linux, that of macOS counts.
final class Manager: NSObject, CBCentralManagerDelegate {
    private var central: CBCentralManager!

    func start() {
        #if os(iOS) || os(tvOS)
        central = CBCentralManager(delegate: self, queue: nil, options: [CBCentralManagerOptionRestoreIdentifierKey: "a"])
        #elseif os(macOS)
        central = CBCentralManager(delegate: self, queue: nil)
        #endif
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {}
}

final class Counter: NSLock {
    private var value = 0
    func next() -> Int { withLock { value += 1; return value } }
}
