import BluetoothBase
import BluetoothCrypto
import BluetoothHost
import BluetoothSMP
import BluetoothSimulation
import Testing
import VirtualRadio

/// Hosts that pair, and use private addresses.
extension HostWorld {
    static let crypto = SwiftCryptoToolbox()

    /// Starts a host that can pair.
    ///
    /// - Parameters:
    ///   - rotation: how long it uses a private address; nil for a host without privacy.
    ///   - resolvingListSize: how many devices its controller resolves; 0 for one that resolves none.
    ///   - publicAddress: its controller's address; one of its own if nil.
    mutating func startSecure(
        rotation: Duration? = nil, resolvingListSize: UInt8 = 8, publicAddress: DeviceAddress? = nil,
        host configure: (inout HostConfiguration) -> Void = { _ in }
    ) -> Int {
        let number = UInt64(hosts.count + 1)
        return start {
            $0.hasPrivacy = resolvingListSize > 0
            $0.resolvingListSize = resolvingListSize
            if let publicAddress { $0.publicAddress = publicAddress }
        } host: {
            $0.security = SecurityConfiguration(
                crypto: Self.crypto, entropy: SeededGenerator(seed: number), resolvingKey: Self.key(of: number))
            if let rotation { $0.privacy = .resolvable(rotation: rotation) }
            configure(&$0)
        }
    }

    static func key(of number: UInt64) -> UInt128 { 0x1234_5678 << 64 | UInt128(number) }

    /// The address that a host uses on the air.
    func address(of index: Int) -> DeviceAddress? { hosts[index].privateAddress ?? hosts[index].controller?.address }

    /// Connects to a host under its present address, or under a name.
    mutating func connectSecure(_ central: Int, to peripheral: Int, _ name: PeerID? = nil) throws -> Pair {
        let current = address(of: peripheral)
        let address = try #require(current)
        try hosts[peripheral].startAdvertising(AdvertisingParameters(data: [2, 1, 6]), at: now)
        settle()
        let peer = name ?? PeerID(address)
        _ = try hosts[central].connect(to: peer, timeout: .seconds(30), at: now)
        return try linked(central, peripheral)
    }

    /// Waits for both ends of a link.
    mutating func linked(_ central: Int, _ peripheral: Int) throws -> Pair {
        let first = next(central, within: .seconds(40)) { $0.event.connectedLink }
        let second = next(peripheral) { $0.event.connectedLink }
        let centralLink = try #require(first)
        let peripheralLink = try #require(second)
        hosts[peripheral].stopAdvertising(at: now)
        settle()
        return Pair(
            central: central, peripheral: peripheral, centralLink: centralLink, peripheralLink: peripheralLink)
    }

    /// Lets the two ends of a link pair; their bonds.
    mutating func bond(_ pair: Pair) throws -> (central: Bond, peripheral: Bond) {
        try hosts[pair.central].pair(pair.centralLink, PairingParameters(), at: now)
        let isAsked = next(pair.peripheral) { $0.event.isConsentAsked ? true : nil }
        try #require(isAsked == true)
        try hosts[pair.peripheral].answerPairing(pair.peripheralLink, .accept(), at: now)
        let central: Bond? = next(pair.central) { $0.event.bond }
        let peripheral: Bond? = next(pair.peripheral) { $0.event.bond }
        run(for: .seconds(1))
        return (try #require(central), try #require(peripheral))
    }

    /// Ends a link, on both sides.
    mutating func disconnect(_ pair: Pair) {
        try? hosts[pair.central].disconnect(pair.centralLink, at: now)
        run(for: .seconds(2))
        for index in [pair.central, pair.peripheral] { seen[index].removeAll() }
    }

    /// What a host receives of advertising within some time: who, and from which address.
    mutating func sightings(by index: Int, for duration: Duration) -> [Advertisement] {
        seen[index].removeAll()
        try? hosts[index].startScanning(ScanParameters(), at: now)
        run(for: duration)
        hosts[index].stopScanning(at: now)
        settle()
        return seen[index].compactMap {
            if case .advertisement(let advertisement) = $0.event { advertisement } else { nil }
        }
    }
}

extension HostEvent {
    var bond: Bond? {
        if case .bondChanged(let bond) = self { bond } else { nil }
    }

    /// Whether a pairing that has succeeded led to a bond.
    var isBonded: Bool? {
        if case .security(_, .paired(_, let isBonded)) = self { isBonded } else { nil }
    }

    var isConsentAsked: Bool {
        if case .security(_, .asked(.consent)) = self { true } else { false }
    }
}
