import BluetoothBase
import BluetoothHCI
import BluetoothSMP

/// Private addresses: of peers, which are resolved, and of this host (Core 5.4, Vol 3, Part C, 10.7).
extension Host {
    /// The private address that this host uses on the air now; nil where it uses none.
    public var privateAddress: DeviceAddress? { privacy.ownAddress }

    /// Whether private addresses are asked for, and there is no key to make them with.
    var lacksPrivacy: Bool { configuration.privacy.isResolvable && security?.identity.resolvingKey ?? 0 == 0 }

    /// Whether links are impossible, since this device has addresses under which nobody recognizes it.
    var isForBroadcastOnly: Bool { privacy.isPrivate && !configuration.privacy.isResolvable }

    /// Encryption of a link has failed: the private address it was made under is not used again (Vol 3, Part C, 10.6). Each address
    /// is given up once, so that a peer needs a new link for the next one.
    mutating func discardAddress(of slot: LinkSlot, at now: Instant) {
        guard let own = privacy.ownAddress, own.value == links.at[slot.index].localAddress.value else { return }
        privacy.renewAddress()
        advanceActivities(at: now)
    }

    /// The controller is to know the keys of the bonds, and the host's own.
    mutating func updatePrivacy(at now: Instant) {
        guard let security else { return }
        let localIRK = security.identity.resolvingKey
        privacy.want(peers.resolver.listed.map { ResolvingList.Entry($0, localIRK: localIRK) })
        advanceActivities(at: now)
    }

    /// Changes something in the controller, once nothing else is going on there.
    mutating func advancePrivacy(at now: Instant) {
        guard privacy.isPending, lifecycle.isUp, scanner.isIdle, advertiser.isIdle, initiator.isIdle else { return }
        var resources = security
        var generator = addressGenerator
        let isResolvable = configuration.privacy.isResolvable
        let command = privacy.advance {
            isResolvable ? resources?.makePrivateAddress() : .nonResolvable(using: &generator)
        }
        security = resources
        addressGenerator = generator
        if let command { perform([.send(command, for: .privacy)], at: now) }
    }

    /// The answer to a command of `advancePrivacy`.
    mutating func privacyAnswered(_ status: HCIStatus, at now: Instant) {
        privacy.answered(status, at: now)
        advancePrivacy(at: now)
        if !privacy.isPending { advanceActivities(at: now) }
    }

    /// The own address for scanning and connecting.
    var ownAddressType: OwnAddressType {
        guard privacy.isPrivate else { return lifecycle.ownAddressType }
        return configuration.privacy.isResolvable && privacy.usesList ? .resolvableOrRandom : .random
    }

    /// The addresses to advertise something with.
    func advertisingAddresses(for parameters: AdvertisingParameters) -> Advertiser.Addresses {
        if let own = parameters.ownAddress, own.randomKind == nil { return Advertiser.Addresses(own: .public) }
        if let own = parameters.ownAddress { return Advertiser.Addresses(own: .random, random: own) }
        var addresses = advertisingAddresses(for: parameters.peer, canBePrivate: parameters.peerResolvesAddresses)
        // Each set has a random address of its own, so a private one that is replaced reaches all of them as they begin again.
        if addresses.own == .random || addresses.own == .resolvableOrRandom {
            addresses.random = privacy.ownAddress ?? controller?.address
        }
        return addresses
    }

    /// - Parameter canBePrivate: whether the target finds itself under a private address.
    private func advertisingAddresses(for target: PeerID?, canBePrivate: Bool) -> Advertiser.Addresses {
        let own: OwnAddressType = privacy.isPrivate ? .random : lifecycle.ownAddressType
        guard let target else { return Advertiser.Addresses(own: own) }
        guard canBePrivate, let identity = peers.identity(of: target), privacy.isListed(identity) else {
            // A private address made here would not help: the peer connects from another one, and only a controller that
            // can resolve that takes both for the same.
            return Advertiser.Addresses(own: own, peer: peers.address(of: target))
        }
        // Only with these types does a controller make an address of the peer.
        let isRandom = privacy.isPrivate || own == .random
        return Advertiser.Addresses(
            own: isRandom ? .resolvableOrRandom : .resolvableOrPublic, peer: marked(identity.address))
    }

    /// The address under which the controller finds a peer; nil where the peer has to be searched for, since it may use
    /// private addresses that only the host can resolve.
    func reachableAddress(of peer: PeerID) -> DeviceAddress? {
        guard let identity = peers.identity(of: peer) else { return peers.address(of: peer) }
        return privacy.isListed(identity) ? marked(identity.address) : nil
    }

    /// Whether an address is the identity of a bonded peer that has to use private addresses. A controller that resolves
    /// addresses says of those it has resolved that they are identities, which are of other kinds.
    func isIdentityForbidden(_ address: DeviceAddress) -> Bool {
        configuration.peerPrivacyMode == .network && (address.kind == .public || address.kind == .random)
            && address.isIdentity && peers.identity(of: PeerID(address)) != nil
    }

    private func marked(_ identity: DeviceAddress) -> DeviceAddress {
        let isPublic = identity.kind == .public || identity.kind == .publicIdentity
        guard privacy.marksIdentities else { return DeviceAddress(identity.value, kind: isPublic ? .public : .random) }
        return DeviceAddress(identity.value, kind: isPublic ? .publicIdentity : .randomIdentity)
    }

    /// A peer has been received advertising, while peers are searched for.
    mutating func searched(_ peer: PeerID, at address: DeviceAddress, at now: Instant) {
        guard configuration.peerPrivacyMode == .device || address.randomKind == .resolvablePrivate,
            initiator.sighted(peer, at: address, in: peers, at: now)
        else { return }
        advanceConnecting(at: now)
    }
}

extension SecurityResources {
    /// A fresh private address of this device; nil without a key.
    mutating func makePrivateAddress() -> DeviceAddress? {
        guard identity.resolvingKey != 0 else { return nil }
        return crypto.resolvablePrivateAddress(resolvingKey: identity.resolvingKey, entropy: &entropy)
    }
}

extension DeviceAddress {
    /// A fresh non-resolvable private address: the two top bits are zeros, the rest is neither all zeros nor all ones (Core 5.4,
    /// Vol 6, Part B, 1.3.2.2).
    fileprivate static func nonResolvable(using generator: inout SeededGenerator) -> DeviceAddress {
        var bits: UInt64
        repeat { bits = generator.next() & 0x3FFF_FFFF_FFFF } while bits == 0 || bits == 0x3FFF_FFFF_FFFF
        return DeviceAddress(bits, kind: .random)
    }
}
