import BluetoothBase
import BluetoothHCI
import BluetoothSMP

/// Private addresses, as far as the controller must know of them: its resolving list, and the random address of this host.
///
/// Neither may be changed while the controller advertises, scans or initiates (Core 5.4, Vol 4, Part E, 7.8.4, 7.8.38 to
/// 7.8.44): as long as something must be changed, `isPending` holds everything else up.
struct PrivacyControl: Hashable, Sendable {
    private let rotation: Duration?
    private var list: ResolvingList
    private var address = PrivateAddress()

    init(_ configuration: HostConfiguration) {
        rotation = configuration.privacy.rotation
        list = ResolvingList(configuration.peerPrivacyMode, rotation: configuration.privacy.rotation)
    }

    var isPrivate: Bool { rotation != nil }

    /// The private address of this host that the controller knows; nil if it knows none.
    var ownAddress: DeviceAddress? { address.current }

    /// Whether something must be changed in the controller.
    var isPending: Bool { list.isPending || address.isPending }

    var nextDeadline: Instant? { address.nextDeadline }

    /// Whether the controller resolves the addresses of a peer.
    func isListed(_ identity: DeviceIdentity) -> Bool { list.contains(identity) }

    /// Whether the controller uses private addresses of its own making where it can.
    var usesList: Bool { list.isInUse }

    /// Whether identity addresses in commands have the types 2 and 3: where there are no privacy modes (Vol 4, Part E,
    /// 7.8.5, 7.8.12).
    var marksIdentities: Bool { !list.hasPrivacyModes }

    // MARK: What is wanted

    /// The bonds have changed, or this host's own key.
    mutating func want(_ entries: [ResolvingList.Entry]) { list.want(entries) }

    /// The own address will no longer be used.
    mutating func renewAddress() { address.renew() }

    /// Renews the own address when its time is over.
    mutating func fire(at now: Instant) { address.fire(at: now) }

    // MARK: The controller

    /// A controller is up, and knows nothing.
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

    /// The next command, unless one is with the controller. The list comes first.
    ///
    /// - Parameter makeAddress: makes a fresh private address of this host; nil where it cannot.
    mutating func advance(_ makeAddress: () -> DeviceAddress?) -> (any HCICommand)? {
        guard !list.isChanging, !address.isBeingSet else { return nil }
        if let command = list.advance() { return command }
        return address.advance(makeAddress).map { LESetRandomAddress(address: $0) }
    }

    /// Takes the answer to the command.
    mutating func answered(_ status: HCIStatus, at now: Instant) {
        if address.isBeingSet {
            address.answered(status == .success, rotation: rotation, at: now)
        } else {
            list.answered(status == .success)
        }
    }
}
