import BluetoothBase
import BluetoothHCI
import BluetoothSMP

/// Private addresses, as far as the controller has to know of them: its resolving list, and the random address of this
/// host. What is wanted, and what the controller has.
///
/// Neither may be changed while the controller advertises, scans or initiates (Core 5.4, Vol 4, Part E, 7.8.4, 7.8.38 to
/// 7.8.44): as long as something is to be changed, `isPending` holds everything else up.
struct PrivacyControl: Sendable {
    struct Entry: Equatable, Sendable {
        /// Public or random.
        let identity: DeviceAddress
        let peerIRK: UInt128
        let localIRK: UInt128

        init(_ peer: DeviceIdentity, localIRK: UInt128) {
            identity = PeerID(peer.address).firstAddress
            peerIRK = peer.resolvingKey
            self.localIRK = localIRK
        }
    }

    private enum Step: Equatable {
        case remove(Entry)
        case add(Entry)
        case setMode(Entry)
        case setTimeout
        case enable
        case setAddress(DeviceAddress?)
    }

    private let rotation: Duration?
    private let mode: PeerPrivacyMode
    /// The entries of the bonds, in the order in which they are listed as far as there is room.
    private var wanted: [Entry] = []
    private var listed: [Entry] = []
    private var capacity = 0
    private var canSetMode = false
    private var canSetTimeout = false
    private var needsMode: Entry?
    private var needsTimeout = false
    private var isEnabled = false
    /// The command that is with the controller.
    private var step: Step?
    /// The private address of this host that the controller knows; nil where there is none.
    private(set) var ownAddress: DeviceAddress?
    /// When the own address is to be changed.
    private var addressDue: Instant?
    private var isAddressDue = false
    /// Whether something is to be changed in the controller.
    private(set) var isPending = false

    /// The most entries to use: each takes a command or two, and a controller that has more room searches longer.
    static let maximumEntries = 64
    /// How long to wait before a refused address is tried again.
    private static let retryDelay = Duration.seconds(1)

    init(_ configuration: HostConfiguration) {
        rotation = configuration.privacy.rotation
        mode = configuration.peerPrivacyMode
    }

    var isPrivate: Bool { rotation != nil }

    var nextDeadline: Instant? { addressDue }

    /// Whether the controller resolves the addresses of a peer by itself.
    func isListed(_ identity: DeviceIdentity) -> Bool {
        guard isEnabled else { return false }
        let address = PeerID(identity.address).firstAddress
        return listed.contains { $0.identity == address && $0.peerIRK == identity.resolvingKey }
    }

    /// Whether the controller uses private addresses of its own making where it can.
    var usesList: Bool { isEnabled && !listed.isEmpty }

    /// Whether identity addresses in commands have the types 2 and 3: where there are no privacy modes (Vol 4, Part E,
    /// 7.8.5, 7.8.12).
    var marksIdentities: Bool { !canSetMode }

    // MARK: What is wanted

    /// The bonds have changed, or this host's own key.
    mutating func want(_ entries: [Entry]) {
        wanted = entries
        update()
    }

    /// The own address is no longer to be used.
    mutating func renewAddress() {
        guard isPrivate else { return }
        isAddressDue = true
        update()
    }

    /// The own address is due for a change.
    mutating func fire(at now: Instant) {
        guard let addressDue, addressDue <= now else { return }
        self.addressDue = nil
        renewAddress()
    }

    // MARK: The controller

    /// A controller is up, and knows nothing.
    mutating func start(_ controller: ControllerInformation) {
        reset()
        capacity = min(controller.resolvingListSize, Self.maximumEntries)
        canSetMode = controller.commands.contains(.leSetPrivacyMode)
        canSetTimeout = controller.commands.contains(.leSetResolvablePrivateAddressTimeout)
        needsTimeout = isPrivate && canSetTimeout && capacity > 0
        isAddressDue = isPrivate
        update()
    }

    mutating func reset() {
        listed = []
        capacity = 0
        isEnabled = false
        (step, needsMode, needsTimeout) = (nil, nil, false)
        (ownAddress, addressDue, isAddressDue) = (nil, nil, false)
        isPending = false
    }

    private mutating func update() { isPending = step != nil || next != nil || isPrivate && ownAddress == nil }

    /// The next change; nil where the controller has all that is wanted.
    private var next: Step? {
        if let needsMode { return .setMode(needsMode) }
        let target = wanted.prefix(capacity)
        if let entry = listed.first(where: { !target.contains($0) }) { return .remove(entry) }
        if let entry = target.first(where: { !listed.contains($0) }) { return .add(entry) }
        if needsTimeout { return .setTimeout }
        if !isEnabled, !listed.isEmpty { return .enable }
        return isAddressDue ? .setAddress(nil) : nil
    }

    /// The next command, where none is with the controller.
    ///
    /// - Parameter makeAddress: makes a fresh private address of this host; nil where it cannot.
    mutating func advance(_ makeAddress: () -> DeviceAddress?) -> (any HCICommand)? {
        guard step == nil, let next else { return nil }
        step = next
        switch next {
        case .remove(let entry): return LERemoveDeviceFromResolvingList(peerIdentityAddress: entry.identity)
        case .add(let entry):
            return LEAddDeviceToResolvingList(
                peerIdentityAddress: entry.identity, peerIRK: entry.peerIRK, localIRK: entry.localIRK)
        case .setMode(let entry): return LESetPrivacyMode(peerIdentityAddress: entry.identity, mode: .device)
        case .setTimeout:
            let seconds = rotation?.components.seconds ?? 900
            return LESetResolvablePrivateAddressTimeout(seconds: UInt16(clamping: seconds))
        case .enable: return LESetAddressResolutionEnable(isEnabled: true)
        case .setAddress:
            guard let address = makeAddress() else {
                step = nil
                return nil
            }
            // It may be asked for again before the answer: the key may be another one by then.
            isAddressDue = false
            step = .setAddress(address)
            return LESetRandomAddress(address: address)
        }
    }

    /// Takes the answer to the command.
    mutating func answered(_ status: HCIStatus, at now: Instant) {
        let isDone = status == .success
        switch step {
        case .remove(let entry):
            // Whatever it answers, the entry is not to be relied on.
            listed.removeAll { $0 == entry }
        case .add(let entry) where isDone:
            listed.append(entry)
            if mode == .device, canSetMode { needsMode = entry }
        // It has less room than it says. The host resolves the rest.
        case .add: capacity = min(capacity, listed.count)
        case .setMode: needsMode = nil
        case .setTimeout: needsTimeout = false
        case .enable where isDone: isEnabled = true
        case .enable: (capacity, listed) = (0, [])
        case .setAddress(let address):
            if isDone { ownAddress = address }
            addressDue = now.advanced(by: isDone ? rotation ?? Self.retryDelay : Self.retryDelay)
        case nil: return
        }
        step = nil
        update()
    }
}
