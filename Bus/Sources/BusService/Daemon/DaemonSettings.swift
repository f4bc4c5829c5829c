import DBus

/// Which version of BlueZ the daemon answers like.
package enum Profile: String, CaseIterable, Sendable {
    /// Debian 12.
    case bookworm = "5.66"
    /// Debian 14 and other current systems.
    case current = "5.87"
}

/// How the daemon presents itself.
package struct DaemonSettings: Sendable {
    package var bus: BusAddress
    package var profile: Profile
    /// The name of this device, until a client sets another one.
    package var name: String
    /// The number in the adapter's name, as in `hci0`.
    package var adapterNumber: Int
    /// Receives a line about something that went wrong without ending the daemon.
    package var report: @Sendable (String) -> Void

    package init(
        bus: BusAddress = .system, profile: Profile = .bookworm, name: String, adapterNumber: Int = 0,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.bus = bus
        self.profile = profile
        self.name = name
        self.adapterNumber = adapterNumber
        self.report = report
    }
}
