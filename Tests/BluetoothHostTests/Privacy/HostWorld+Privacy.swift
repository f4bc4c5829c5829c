import BluetoothBase
import BluetoothCrypto
import BluetoothHost
import BluetoothSMP
import BluetoothSimulation
import Testing
import VirtualRadio

/// Hosts that pair, and use private addresses.
extension HostWorld {
    static let crypto = LibraryToolbox()

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

    /// Lets the peripheral of a link ask for security, and both pair; their bonds.
    mutating func bondOnRequest(_ pair: Pair) throws -> (central: Bond, peripheral: Bond) {
        try hosts[pair.peripheral].pair(pair.peripheralLink, PairingParameters(), at: now)
        _ = try answerPairing(pair, PairingParameters())
        run(for: .seconds(1))
        let central = hosts[pair.central].bonds.first
        let peripheral = hosts[pair.peripheral].bonds.first
        return (try #require(central), try #require(peripheral))
    }

    /// How a pairing has ended at one end of a link.
    struct PairingEnd {
        var outcome: Result<KeyStrength, PairingError>?
        var bond: Bond?
    }

    /// Answers the questions of both ends of a link, and pairs when a peer requests it, until both have reported how a
    /// pairing ended.
    ///
    /// - Parameter refusing: the end that says that the numbers differ.
    mutating func answerPairing(
        _ pair: Pair, _ parameters: PairingParameters, refusing: LinkRole? = nil
    ) throws -> [LinkRole: PairingEnd] {
        var ends: [LinkRole: PairingEnd] = [.central: PairingEnd(), .peripheral: PairingEnd()]
        let links = [
            (LinkRole.central, pair.central, pair.centralLink), (.peripheral, pair.peripheral, pair.peripheralLink),
        ]
        for _ in 0..<200 where ends.values.contains(where: { $0.outcome == nil }) {
            settle()
            for (role, index, link) in links {
                let events = seen[index].map(\.event)
                seen[index].removeAll()
                for event in events {
                    switch event {
                    case .security(_, .requested): try hosts[index].pair(link, parameters, at: now)
                    case .security(_, .asked(.compareNumbers)) where role == refusing:
                        try hosts[index].answerPairing(link, .refuse, at: now)
                    case .security(_, .asked): try hosts[index].answerPairing(link, .accept(parameters), at: now)
                    default:
                        if let outcome = event.pairingOutcome { ends[role]?.outcome = outcome }
                        if let bond = event.bond { ends[role]?.bond = bond }
                    }
                }
            }
            run(for: .milliseconds(50))
        }
        return ends
    }

    /// The private addresses of the last link in the transcript, as the controller of a host reported them: the one
    /// that it made for itself, and the one of the peer that it resolved. Zero where there is none.
    func privateAddresses(ofLastLinkOf index: Int) -> (own: DeviceAddress, peer: DeviceAddress)? {
        // LE Enhanced Connection Complete.
        let line = transcript?.last { $0.contains(" \(index) < [4, 62, 31, 10, 0, ") }
        let octets = line?.split(separator: "[").last?.dropLast().split(separator: ", ").compactMap { UInt64($0) }
        guard let octets, octets.count == 34 else { return nil }
        let addresses = [octets[15..<21], octets[21..<27]].map { octets in
            DeviceAddress(octets.reversed().reduce(0) { $0 << 8 | $1 }, kind: .random)
        }
        return (addresses[0], addresses[1])
    }

    /// Ends a link, on both sides.
    mutating func disconnect(_ pair: Pair) {
        try? hosts[pair.central].disconnect(pair.centralLink, at: now)
        run(for: .seconds(2))
        for index in [pair.central, pair.peripheral] { seen[index].removeAll() }
    }

    /// The octets of the advertising that a host has received since its events were last removed.
    func advertisingOctets(of index: Int) -> Set<[UInt8]> {
        Set(
            seen[index].compactMap {
                guard case .advertisement = $0.event, !$0.bytes.isEmpty else { return nil }
                return $0.bytes
            })
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
