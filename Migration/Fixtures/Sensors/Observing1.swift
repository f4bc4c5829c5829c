import CoreBluetooth

/// Observes a property of a manager that it holds.
private class ScanObserver: NSObject {
    @objc dynamic private weak var manager: CBCentralManager?
    private var observation: NSKeyValueObservation?
    var isScanning = false

    init(_ manager: CBCentralManager) {
        self.manager = manager
        super.init()
        observation = observe(\.manager?.isScanning, options: [.old, .new]) { _, change in
            change.newValue?.flatMap { [weak self] isScanning in self?.isScanning = isScanning }
        }
    }
}

func observeScanning(of manager: CBCentralManager) -> NSObject { ScanObserver(manager) }
