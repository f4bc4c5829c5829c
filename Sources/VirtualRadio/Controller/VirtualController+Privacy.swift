import BluetoothBase
import BluetoothHCI

/// A device, as a controller sees it.
struct SeenDevice: Sendable {
    /// The address it uses.
    let address: DeviceAddress
    /// The identity address that this was resolved to; nil if it was not.
    let identity: DeviceAddress?

    /// The address by which lists and hosts know it.
    var lastingAddress: DeviceAddress { identity ?? address }

    /// As in an event: types 2 and 3 are those of a resolved identity.
    var reportedAddress: DeviceAddress {
        guard let identity else { return address }
        return DeviceAddress(identity.value, kind: identity.kind == .public ? .publicIdentity : .randomIdentity)
    }

    /// The private address that was resolved; zero if none was.
    var resolvedAddress: DeviceAddress { identity == nil ? DeviceAddress(0, kind: .random) : address }
}

/// Private addresses (Core 5.4, Vol 6, Part B, 6).
///
/// What is asked for each advertisement and listener is inlined: a call on one of an air's controllers would copy all of it first.
extension VirtualController {
    /// Who uses an address; nil for a device that must be ignored, because it is to use only private addresses.
    @inline(__always)
    func device(at address: DeviceAddress) -> SeenDevice? {
        let list = settings.resolvingList
        guard list.isEnabled, !list.entries.isEmpty, let encrypt = configuration.aesEncrypt else {
            return SeenDevice(address: address, identity: nil)
        }
        if let entry = list.entries.first(where: { PrivateAddress.isMade(address, with: $0.peerIRK, encrypt) }) {
            return SeenDevice(address: address, identity: entry.identity)
        }
        if let entry = list.entry(of: address), entry.peerIRK != 0, entry.mode == .network { return nil }
        return SeenDevice(address: address, identity: nil)
    }

    /// Its address on the air towards a peer; nil for a random one that its host has not set.
    ///
    /// - Parameter peer: the identity address of the peer; nil if that is unknown.
    @inline(__always)
    func ownAddress(_ type: OwnAddressType, towards peer: DeviceAddress? = nil) -> DeviceAddress? {
        privateAddress(type, towards: peer) ?? fixedAddress(type, random: settings.randomAddress)
    }

    /// The address with which it advertises; nil for a random one that its host has not set.
    @inline(__always)
    func address(of advertiser: Advertiser) -> DeviceAddress? {
        let type = advertiser.parameters.ownAddressType
        // Each set has a random address of its own.
        let isSet = settings.usesExtendedCommands == true
        return privateAddress(type, towards: advertiser.parameters.peerAddress)
            ?? fixedAddress(type, random: isSet ? advertiser.randomAddress : settings.randomAddress)
    }

    /// The private address it has made to be used towards a peer.
    @inline(__always)
    func privateAddress(_ type: OwnAddressType, towards peer: DeviceAddress?) -> DeviceAddress? {
        switch type {
        case .public, .random: nil
        case .resolvableOrPublic, .resolvableOrRandom:
            peer.flatMap { settings.resolvingList.entry(of: $0)?.localAddress }
        }
    }

    @inline(__always)
    private func fixedAddress(_ type: OwnAddressType, random: DeviceAddress?) -> DeviceAddress? {
        switch type {
        case .public, .resolvableOrPublic: configuration.publicAddress
        case .random, .resolvableOrRandom: random
        }
    }

    /// The address that directed advertising is for.
    @inline(__always)
    func targetAddress(of advertiser: Advertiser) -> DeviceAddress {
        let parameters = advertiser.parameters
        switch parameters.ownAddressType {
        case .public, .random: return parameters.peerAddress
        case .resolvableOrPublic, .resolvableOrRandom:
            return settings.resolvingList.entry(of: parameters.peerAddress)?.peerAddress ?? parameters.peerAddress
        }
    }

    /// Whether directed advertising of a device is for this one.
    @inline(__always)
    func isAddressed(by target: DeviceAddress, from device: SeenDevice, _ type: OwnAddressType) -> Bool {
        if target == ownAddress(type, towards: device.lastingAddress) { return true }
        guard let encrypt = configuration.aesEncrypt,
            let entry = settings.resolvingList.entry(of: device.lastingAddress)
        else { return false }
        return PrivateAddress.isMade(target, with: entry.localIRK, encrypt)
    }

    /// Whether a device is the one that directed advertising is for.
    func directs(_ advertiser: Advertiser, to device: SeenDevice) -> Bool {
        device.address == targetAddress(of: advertiser)
            || device.identity != nil && device.identity == advertiser.parameters.peerAddress.unresolved
    }

    /// Makes fresh private addresses where those in use are too old.
    mutating func renewPrivateAddresses(at time: Instant) {
        guard settings.resolvingList.isEnabled, let encrypt = configuration.aesEncrypt else { return }
        settings.resolvingList.renew(encrypt, &generator, at: time)
    }
}
