import Foundation

/// Defaults with the methods of key-value coding.
enum KnownDevices {
    static var identifiers: [String] {
        get { UserDefaults.standard.value(forKey: "devices") as? [String] ?? [] }
        set { UserDefaults.standard.setValue(newValue, forKey: "devices") }
    }

    static let notification = Notification.Name(Bundle.main.bundleIdentifier! + ".changed")

    static var canScan: Bool {
        !ProcessInfo.processInfo.isLowPowerModeEnabled && ProcessInfo.processInfo.thermalState != .critical
    }
}
