import CoreBluetooth

/// A benchmark application that receives advertising reports with one or more central managers, as a process does whose
/// libraries each have their own. All of them use one queue.
final class DelegateScanners {
    private let work: Workload
    private let end: DispatchSemaphore
    private let flow = Flow()
    private var scanners: [DelegateScanner] = []
    /// The number of reports received by each scanner that has ended.
    private var received: [Int] = []

    init(_ work: Workload, onEnd end: DispatchSemaphore) {
        self.end = end
        self.work = work
        let queue = DispatchQueue(label: "application")
        queue.sync {
            scanners = (0..<work.scans).map { _ in DelegateScanner(on: queue) { [unowned self] in ended($0) } }
        }
    }

    private func ended(_ count: Int) {
        received.append(count)
        guard received.count == work.scans, let least = received.min() else { return }
        flow.end(operations: least, lost: work.count - least)
        end.signal()
    }
}

/// A central manager, and the delegate that counts its reports.
private final class DelegateScanner: NSObject {
    private var manager: CBCentralManager?
    private var received = 0
    /// Called with the number of reports; nil afterwards.
    private var onEnd: ((Int) -> Void)?

    init(on queue: DispatchQueue, onEnd: @escaping (Int) -> Void) {
        self.onEnd = onEnd
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }
}

extension DelegateScanner: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        central.scanForPeripherals(withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi: NSNumber
    ) {
        // The peer's last report has an RSSI of 0.
        if rssi.intValue == 0 {
            onEnd?(received)
            onEnd = nil
        } else if onEnd != nil {
            received += 1
        }
    }
}
