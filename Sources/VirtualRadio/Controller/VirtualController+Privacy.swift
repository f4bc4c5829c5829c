import BluetoothBase
import BluetoothHCI

/// A device from a controller's point of view.
struct SeenDevice: Sendable {
    /// The address the device uses on the air.
    let address: DeviceAddress
    /// The identity address that `address` was resolved to; nil if it was not resolved.
    let identity: DeviceAddress?

    /// The address by which lists and hosts identify the device.
    var lastingAddress: DeviceAddress { identity ?? address }

    /// The address for events. Types 2 and 3 mark a resolved identity.
    var reportedAddress: DeviceAddress {
        guard let identity else { return address }
        return DeviceAddress(identity.value, kind: identity.kind == .public ? .publicIdentity : .randomIdentity)
    }

    /// The private address that was resolved; zero if none was.
    var resolvedAddress: DeviceAddress { identity == nil ? DeviceAddress(0, kind: .random) : address }
}

/// Private addresses (Core 5.4, Vol 6, Part B, 6).
///
/// The lookups made for each advertisement and listener are inlined, because a call on one of an air's controllers
/// would copy the whole controller first.
extension VirtualController {
    /// The device that uses an address; nil for a device that must be ignored because it should use only private
    /// addresses.
    @inline(__always)
    func device(at address: DeviceAddress) -> SeenDevice? {
        let list = settings.resolvingList
        guard list.isEnabled, !list.entries.isEmpty, let encrypt = configuration.aesEncrypt else {
            return SeenDevice(address: address, identity: nil)
        }
        if let entry = list.entries.first(where: { ResolvableAddress.isMade(address, with: $0.peerIRK, encrypt) }) {
            return SeenDevice(address: address, identity: entry.identity)
        }
        if let entry = list.entry(of: address), entry.peerIRK != 0, entry.mode == .network { return nil }
        return SeenDevice(address: address, identity: nil)
    }

    /// The controller's address on the air towards a peer; nil for a random address that the host has not set.
    ///
    /// - Parameter peer: the identity address of the peer; nil if that is unknown.
    @inline(__always)
    func ownAddress(_ type: OwnAddressType, towards peer: DeviceAddress? = nil) -> DeviceAddress? {
        privateAddress(type, towards: peer) ?? fixedAddress(type, random: settings.randomAddress)
    }

    /// The address used for advertising; nil for a random address that the host has not set.
    @inline(__always)
    func address(of advertiser: AdvertisingState) -> DeviceAddress? {
        let type = advertiser.parameters.ownAddressType
        // Each set has its own random address.
        let isSet = settings.usesExtendedCommands == true
        return privateAddress(type, towards: advertiser.parameters.peerAddress)
            ?? fixedAddress(type, random: isSet ? advertiser.randomAddress : settings.randomAddress)
    }

    /// The private address generated for use towards a peer.
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

    /// The target address of directed advertising.
    @inline(__always)
    func targetAddress(of advertiser: AdvertisingState) -> DeviceAddress {
        let parameters = advertiser.parameters
        switch parameters.ownAddressType {
        case .public, .random: return parameters.peerAddress
        case .resolvableOrPublic, .resolvableOrRandom:
            return settings.resolvingList.entry(of: parameters.peerAddress)?.peerAddress ?? parameters.peerAddress
        }
    }

    /// Whether directed advertising of a device is addressed to this controller.
    @inline(__always)
    func isAddressed(by target: DeviceAddress, from device: SeenDevice, _ type: OwnAddressType) -> Bool {
        if target == ownAddress(type, towards: device.lastingAddress) { return true }
        guard let encrypt = configuration.aesEncrypt,
            let entry = settings.resolvingList.entry(of: device.lastingAddress)
        else { return false }
        return ResolvableAddress.isMade(target, with: entry.localIRK, encrypt)
    }

    /// Whether directed advertising is addressed to a device.
    func directs(_ advertiser: AdvertisingState, to device: SeenDevice) -> Bool {
        device.address == targetAddress(of: advertiser)
            || device.identity != nil && device.identity == advertiser.parameters.peerAddress.unresolved
    }

    /// Replaces the private addresses if they have expired.
    mutating func renewPrivateAddresses(at time: Instant) {
        guard settings.resolvingList.isEnabled, let encrypt = configuration.aesEncrypt else { return }
        settings.resolvingList.renew(encrypt, &generator, at: time)
    }
}
