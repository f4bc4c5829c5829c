import BluetoothATT
import BluetoothBase
import BluetoothGATT

@testable import BluetoothHost
@testable import BluetoothUsers

/// The events of the cache of a peer's attributes, and another account of what it does.
extension AttributeCachingMachineTests {
    // MARK: - The rest of the link

    /// How far the preparation of the link is.
    enum Preparation: CaseIterable {
        case begun
        /// Of a bonded peer, which has gone on watching.
        case begunWithBond
        /// Changes are watched; services found before that are being verified.
        case verifying
        case over
        /// Changes can't be watched.
        case overUnwatched

        var context: Machine.Context {
            var preparation = LinkPreparation(isChangeWatched: self == .begunWithBond)
            preparation.begin()
            if self == .verifying || self == .over { _ = preparation.learn(.services([one])) }
            for result in results {
                _ = preparation.nextOperation()
                _ = preparation.stepped(result, AttributeCaching(), isDiscovering: self == .verifying)
            }
            return Machine.Context(preparation)
        }

        /// The results of the steps so far, without the services.
        private var results: [Result<GATTClientResult, HostError>] {
            switch self {
            case .begun, .begunWithBond: []
            case .verifying, .over:
                [
                    .success(.values([])),
                    .success(
                        .characteristics([
                            DiscoveredCharacteristic(
                                uuid: .serviceChanged, declarationHandle: 2, valueHandle: 3, endHandle: 4,
                                properties: .indicate)
                        ])),
                    .success(
                        .descriptors([DiscoveredDescriptor(uuid: .clientCharacteristicConfiguration, handle: 4)])),
                    .success(.written),
                ]
            case .overUnwatched: [.failure(.timedOut), .failure(.timedOut)]
            }
        }

        var isWatched: Bool { self != .begun && self != .overUnwatched }
        var mayMissChange: Bool { self == .begun || self == .verifying }
        var isPrepared: Bool { self == .over || self == .overUnwatched }
    }

    static let contexts = Dictionary(uniqueKeysWithValues: Preparation.allCases.map { ($0, $0.context) })

    static func context(_ preparation: Preparation) -> Machine.Context {
        contexts[preparation] ?? preparation.context
    }

    // MARK: - What is found

    /// The services of the peer, before and after a change.
    static let one = DiscoveredService(uuid: .genericAttribute, startHandle: 1, endHandle: 4)
    static let other = DiscoveredService(uuid: .genericAttribute, startHandle: 1, endHandle: 6)

    static func cache(_ services: [DiscoveredService]?) -> AttributeCache {
        var cache = AttributeCache()
        if let services { cache.learn(.services(services), of: .discoverPrimaryServices()) }
        return cache
    }

    static func kept(_ services: [DiscoveredService]?, _ hash: UInt128?) -> DiscoveredAttributes {
        DiscoveredAttributes(cache: cache(services), hash: hash)
    }

    enum HashResult: CaseIterable {
        case one, two, none, several, short, refused

        var result: Result<GATTClientResult, HostError> {
            switch self {
            case .one: .success(.databaseHash(1))
            case .two: .success(.databaseHash(2))
            case .none:
                .failure(.client(.att(ATTError(.attributeNotFound, for: .readByTypeRequest, at: 1))))
            case .several:
                .success(
                    .values([
                        AttributeValue(handle: 3, value: [UInt8](repeating: 1, count: 16)),
                        AttributeValue(handle: 5, value: [UInt8](repeating: 1, count: 16)),
                    ]))
            case .short: .success(.values([AttributeValue(handle: 3, value: [1, 2, 3])]))
            case .refused: .failure(.client(.att(ATTError(.readNotPermitted, for: .readByTypeRequest, at: 3))))
            }
        }
    }

    enum Trust: CaseIterable {
        case unproven, unbonded, bonded, bondedWithServices, bondedWithHash

        var trust: Host.AttributeTrust {
            switch self {
            case .unproven: .unproven
            case .unbonded: .unbonded
            case .bonded: .bonded(nil)
            case .bondedWithServices: .bonded(kept([other], nil))
            case .bondedWithHash: .bonded(kept([other], 1))
            }
        }
    }

    enum Asker: CaseIterable {
        case call, subscription, preparation, databaseHash

        var purpose: PendingOperation.Purpose {
            switch self {
            case .call: .call(UserCall(1))
            case .subscription: .subscription(3)
            case .preparation: .preparation
            case .databaseHash: .databaseHash
            }
        }
    }

    // MARK: - Events

    enum Event: Hashable {
        case admit(isDiscovery: Bool, Asker, Trust)
        /// With the hash of what is kept of the peer; 0 where nothing is.
        case hashRead(HashResult, kept: UInt8)
        case learn(Asker, isDiscovery: Bool, isOld: Bool, Preparation)
        case verify, verifyAfterSubscribing
        case useFound(Preparation)
        case drop
    }

    // Statements instead of a sum of arrays, whose type Swift 6.2.3 cannot infer in reasonable time.
    static let events: [Event] = {
        var events: [Event] = [.verify, .verifyAfterSubscribing, .drop]
        for preparation in Preparation.allCases { events.append(.useFound(preparation)) }
        for trust in Trust.allCases { events.append(.admit(isDiscovery: true, .call, trust)) }
        for asker in Asker.allCases {
            for isDiscovery in [false, true] { events.append(.admit(isDiscovery: isDiscovery, asker, .unbonded)) }
        }
        for result in HashResult.allCases {
            for kept: UInt8 in [0, 1, 3] { events.append(.hashRead(result, kept: kept)) }
        }
        for preparation in Preparation.allCases {
            for asker in [Asker.call, .preparation] {
                events.append(.learn(asker, isDiscovery: true, isOld: false, preparation))
            }
        }
        events.append(.learn(.call, isDiscovery: true, isOld: true, .begunWithBond))
        events.append(.learn(.call, isDiscovery: false, isOld: false, .begun))
        return events
    }()

    // MARK: - Another account of it

    /// Facts in place of phases.
    struct Model: Hashable {
        var isAsked = false
        var isReading = false
        /// The hash is read to be compared with `hash`.
        var isVerifying = false
        var hash: UInt128?
        var hasRefused = false
        var isUnverified = false
        var isTold = false
        var known: [DiscoveredService]?
        var found: [DiscoveredService]?
        var verified: [DiscoveredService]?
        var drops: UInt32 = 0

        var phase: Machine.PhaseName {
            if !isAsked { return .unasked }
            if isReading { return isVerifying ? .verifying : .reading }
            return isUnverified ? .unverified : .settled
        }

        var lasting: DiscoveredAttributes? {
            guard let hash, !hasRefused, let verified else { return nil }
            return kept(verified, hash)
        }

        func mayHaveMissedChange(isDiscovering: Bool) -> Bool {
            hash == nil && !isReading && (isTold || isDiscovering)
        }

        mutating func admit(isDiscovery: Bool, _ asker: Asker, _ trust: Trust) -> Machine.Admission {
            if isReading { return asker == .databaseHash ? .goesOn : .waits }
            if !isAsked, isDiscovery, trust != .unproven {
                isAsked = true
                guard trust == .bondedWithServices else {
                    isReading = true
                    return .waitsForReading
                }
                (known, found, verified) = ([other], [other], [other])
                return .goesOn
            }
            guard isUnverified, !isDiscovery, asker == .call || asker == .subscription else { return .goesOn }
            _ = readAgain()
            return .waitsForReading
        }

        mutating func hashRead(_ result: HashResult, kept: UInt8) -> [Machine.Effect] {
            guard isReading else { return [] }
            let earlier = hash, wasVerifying = isVerifying
            (isReading, isVerifying) = (false, false)
            switch result {
            case .one: hash = 1
            case .two: hash = 2
            case .none: hash = nil
            case .several, .short, .refused: hasRefused = true
            }
            switch (wasVerifying, hasRefused) {
            case (false, true): return [.resume]
            case (false, false):
                guard kept != 0 else { return [.resume] }
                guard hash == 1, kept == 1 else { return [.forget, .resume] }
                (known, found, verified) = ([one], [one], [one])
                return [.resume]
            case (true, true):
                forget()
                return [.forget, .resume]
            case (true, false): return (hash == earlier ? useFound(.begun) : [.everythingChanged]) + [.resume]
            }
        }

        mutating func learn(
            _ asker: Asker, isDiscovery: Bool, isOld: Bool, _ preparation: Preparation
        ) -> [Machine.Effect] {
            guard isDiscovery else { return [] }
            if asker == .call, preparation.mayMissChange { isTold = true }
            guard !isOld, isAsked, !hasRefused else { return [] }
            found = [one]
            if !isReading, hash != nil, !preparation.isWatched, !preparation.isPrepared { isUnverified = true }
            return useFound(preparation)
        }

        mutating func useFound(_ preparation: Preparation) -> [Machine.Effect] {
            guard phase == .settled, !hasRefused, hash != nil || preparation.isWatched else { return [] }
            verified = found
            return [.keep(kept(found, hash))]
        }

        mutating func readAgain() -> [Machine.Effect] {
            (isReading, isVerifying, isUnverified) = (true, true, false)
            return [.readHash]
        }

        mutating func drop() -> [Machine.Effect] {
            forget()
            isAsked = isReading
            (isVerifying, hash, hasRefused, isUnverified, isTold) = (false, nil, false, false, false)
            return [.forget]
        }

        private mutating func forget() {
            (known, found, verified) = (nil, nil, nil)
            drops += 1
        }
    }
}
