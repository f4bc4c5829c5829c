import BluetoothBase
import BluetoothHCI
import BluetoothSMP

/// The controller's part in privacy: its resolving list, and the random address of this host.
///
/// Neither may be changed while the controller advertises, scans or initiates (Core 5.4, Vol 4, Part E, 7.8.4, 7.8.38
/// to 7.8.44). While a change is outstanding, `isPending` therefore suspends all activities.
struct PrivacyControl: Hashable, Sendable {
    private let rotation: Duration?
    private var list: ResolvingList
    private var address = PrivateAddress()

    init(_ configuration: HostConfiguration) {
        rotation = configuration.privacy.rotation
        list = ResolvingList(configuration.peerPrivacyMode, rotation: configuration.privacy.rotation)
    }

    var isPrivate: Bool { rotation != nil }

    /// The private address of this host that the controller uses; nil if it has none.
    var ownAddress: DeviceAddress? { address.current }

    /// Whether a change is outstanding.
    var isPending: Bool { list.isPending || address.isPending }

    var nextDeadline: Instant? { address.nextDeadline }

    /// Whether the controller resolves the addresses of a peer.
    func isListed(_ identity: DeviceIdentity) -> Bool { list.contains(identity) }

    /// Whether the controller generates private addresses itself if it can.
    var usesList: Bool { list.isInUse }

    /// Whether commands use the identity address types 2 and 3, as controllers without privacy modes need it (Vol 4,
    /// Part E, 7.8.5, 7.8.12).
    var marksIdentities: Bool { !list.hasPrivacyModes }

    // MARK: Requests

    /// Updates the requested entries, because the bonds or this host's own key have changed.
    mutating func want(_ entries: [ResolvingList.Entry]) { list.want(entries) }

    /// Replaces the host's own address.
    mutating func renewAddress() { address.renew() }

    /// Replaces the host's own address when its rotation time has passed.
    mutating func fire(at now: Instant) { address.fire(at: now) }

    // MARK: The controller

    /// Starts with a controller that has just come up, without a list or an address.
    mutating func start(_ controller: ControllerInformation) {
        reset()
        list.start(
            ResolvingList.Abilities(
                capacity: controller.resolvingListSize,
                setsPrivacyMode: controller.commands.contains(.leSetPrivacyMode),
                setsTimeout: controller.commands.contains(.leSetResolvablePrivateAddressTimeout)))
        if isPrivate { address.start() }
    }

    mutating func reset() {
        list.reset()
        address.reset()
    }

    /// The next command; nil if there is none, or if one is pending. Changes to the list come first.
    ///
    /// - Parameter makeAddress: generates a new private address of this host; nil if it cannot.
    mutating func advance(_ makeAddress: () -> DeviceAddress?) -> (any HCICommand)? {
        guard !list.isChanging, !address.isBeingSet else { return nil }
        if let command = list.advance() { return command }
        return address.advance(makeAddress).map { LESetRandomAddress(address: $0) }
    }

    /// Handles the answer to the pending command.
    mutating func answered(_ status: HCIStatus, at now: Instant) {
        if address.isBeingSet {
            address.answered(status == .success, rotation: rotation, at: now)
        } else {
            list.answered(status == .success)
        }
    }
}
