import BluetoothHCI
import BluetoothHost
import HCITransport

/// The options for opening an adapter, whichever API opens it.
public struct AdapterOptions: Sendable {
    /// The settings of the host. The runner sets `storesBonds` to whether a bond store is used.
    public var host: HostConfiguration
    /// A btsnoop file that records every packet to and from the controller.
    public var captureFile: String?
    /// Faults to inject into the packets to and from the controller, to test how an application handles them. They do
    /// not apply to a `PacketPort`.
    public var faults: HCIFaults?
    /// Whether the adapter waits for a controller that was unplugged, became unreachable or was given up, and resumes
    /// when it is back. Otherwise the adapter closes, and calls throw `.transport` or `.adapter` with the cause.
    public var isRecovering = true
    /// Whether to retry a transport that cannot be opened at first. Otherwise the adapter closes.
    public var retriesOpening = false
    /// Called on any thread with an error that does not stop the adapter, such as a client that cannot be accepted
    /// right now, or a capture that had to stop.
    public var report: @Sendable (TransportError) -> Void = { _ in }

    /// Called on the adapter's thread with the reason why an attempt to open the controller failed, if another attempt
    /// follows.
    package var reportRetry: @Sendable (BluetoothError) -> Void = { _ in }

    /// The store that keeps bonds; nil to keep them only while the adapter is open. If it is nil, `Adapter.open` stores
    /// the bonds of a controller of this machine (`TransportName.isOfThisMachine`) on disk: see `FileBondStore`.
    ///
    /// Pairing succeeds once its bond is stored. A separate thread writes changes in order; with a port on manual time,
    /// the adapter writes them in its turns.
    public var bonds: (any BondStore)?
    /// The reason why no bond store is available, reported when the first bond cannot be kept.
    package var missingBondStore: BondStoreError?
    /// The reason why the host cannot pair, if it was meant to.
    var missingCiphers: (any Error)?
    /// Called by the thread that opens the adapter, if the host has no Security Manager because its ciphers cannot be
    /// used, with the reason and what to do about it. Never called with options that were created with `init(host:)`.
    public var reportMissingCiphers: @Sendable (any Error) -> Void = { _ in }
    /// Simulates how a disk handles each change of bonds; nil to write the changes normally. Requires a port on manual
    /// time.
    package var simulatedWrites: (@Sendable () -> SimulatedWrite)?
    /// Called on the adapter's thread with the error if bonds could not be read or stored.
    public var reportBonds: @Sendable (BondStoreError) -> Void = { _ in }

    /// Creates options with a host that can pair, if the package is built with the trait `Pairing` and its ciphers can
    /// be used. All others keep their defaults.
    ///
    /// - Parameters:
    ///   - seed: the random bits that the host starts from. Defaults to bits from the system.
    ///   - captureFile: a btsnoop file that records every packet to and from the controller.
    public init(seed: UInt64? = nil, captureFile: String? = nil) {
        host = HostConfiguration(seed: seed ?? .random(in: .min ... .max))
        host.security = .preset
        missingCiphers = SecurityConfiguration.unavailability
        self.captureFile = captureFile
    }

    /// Creates options with a host that is configured already. All others keep their defaults.
    public init(host: HostConfiguration) { self.host = host }

    /// Reports if the host was meant to pair, but cannot.
    func reportSecurity() {
        if host.security == nil, let missingCiphers { reportMissingCiphers(missingCiphers) }
    }
}
