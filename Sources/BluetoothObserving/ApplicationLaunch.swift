/// The part of UIKit's application that state restoration needs. On Linux there are no other members.
public enum UIApplication {
    /// A reason for which the system launches an app. On Linux, no program receives one.
    public struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
        /// The name of the reason.
        public let rawValue: String

        /// Creates a reason from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The identifiers of the central managers to restore.
        public static let bluetoothCentrals = LaunchOptionsKey(
            rawValue: "UIApplicationLaunchOptionsBluetoothCentralsKey")
        /// The identifiers of the peripheral managers to restore.
        public static let bluetoothPeripherals = LaunchOptionsKey(
            rawValue: "UIApplicationLaunchOptionsBluetoothPeripheralsKey")
    }
}

/// UIKit's delegate of an application. On Linux it has no requirements, and no one calls it.
public protocol UIApplicationDelegate: AnyObject {}
