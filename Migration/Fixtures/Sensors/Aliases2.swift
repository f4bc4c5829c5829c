import CoreBluetooth
#if canImport(UIKit)
import UIKit
typealias BackgroundTask = UIBackgroundTaskIdentifier
#endif

/// A property of such a type, and statements that use it.
final class Uploader {
    private var task: BackgroundTask = .invalid
    private(set) var sent = 0

    func upload(_ value: Data, to peripheral: CBPeripheral, _ characteristic: CBCharacteristic) {
        task = UIApplication.shared.beginBackgroundTask(expirationHandler: nil)
        peripheral.writeValue(value, for: characteristic, type: .withResponse)
        sent += 1
        if task != .invalid {
            UIApplication.shared.endBackgroundTask(self.task)
            self.task = .invalid
        }
    }
}
