import BluetoothBase
import BluetoothHCI

/// The devices whose private addresses a controller resolves, and towards which it uses private addresses itself (Core
/// 5.4, Vol 6, Part B, 4.7 and 6).
struct ControllerResolvingList: Sendable {
    struct Entry: Sendable {
        /// Public or random.
        let identity: DeviceAddress
        let peerIRK: UInt128
        let localIRK: UInt128
        var mode = LESetPrivacyMode.Mode.network
        /// The address of the peer in directed advertising; nil without the peer's IRK.
        var peerAddress: DeviceAddress?
        /// The controller's own address towards the peer; nil without a local IRK.
        var localAddress: DeviceAddress?
    }

    private(set) var entries: [Entry] = []
    var isEnabled = false
    /// The lifetime of a generated address.
    var timeout = Duration.seconds(900)
    /// The instant at which the current addresses expire.
    private var expiry: Instant?
    private let capacity: Int

    init(capacity: UInt8) { self.capacity = Int(capacity) }

    /// The entry of a device, by its identity address; nil while address resolution is disabled.
    func entry(of identity: DeviceAddress) -> Entry? {
        isEnabled ? entries.first { $0.identity == identity.unresolved } : nil
    }

    // MARK: The host's commands

    mutating func insert(_ command: LEAddDeviceToResolvingList) -> HCIStatus {
        let identity = command.peerIdentityAddress.unresolved
        guard identity.isIdentity, !entries.contains(where: { $0.identity == identity }) else {
            return .invalidCommandParameters
        }
        guard entries.count < capacity else { return .memoryCapacityExceeded }
        entries.append(Entry(identity: identity, peerIRK: command.peerIRK, localIRK: command.localIRK))
        expiry = nil
        return .success
    }

    mutating func remove(_ identity: DeviceAddress) -> HCIStatus {
        guard let index = entries.firstIndex(where: { $0.identity == identity.unresolved }) else {
            return .unknownConnectionIdentifier
        }
        entries.remove(at: index)
        return .success
    }

    mutating func removeAll() { entries.removeAll() }

    mutating func setMode(_ command: LESetPrivacyMode) -> HCIStatus {
        let identity = command.peerIdentityAddress.unresolved
        guard let index = entries.firstIndex(where: { $0.identity == identity }) else {
            return .unknownConnectionIdentifier
        }
        entries[index].mode = command.mode
        return .success
    }

    // MARK: Generated addresses

    /// Replaces the addresses if they have expired.
    mutating func renew(_ encrypt: ResolvableAddress.Cipher, _ generator: inout SeededGenerator, at time: Instant) {
        if let expiry, time < expiry { return }
        expiry = time.advanced(by: timeout)
        for index in entries.indices {
            let entry = entries[index]
            entries[index].peerAddress = ResolvableAddress.make(entry.peerIRK, encrypt, &generator)
            entries[index].localAddress = ResolvableAddress.make(entry.localIRK, encrypt, &generator)
        }
    }
}

/// Resolvable private addresses (Core 5.4, Vol 6, Part B, 1.3.2.2 and 1.3.2.3).
enum ResolvableAddress {
    typealias Cipher = @Sendable (_ key: UInt128, _ plaintext: UInt128) -> UInt128

    /// Generates an address; nil if the key is 0, which means that there is no key.
    static func make(
        _ key: UInt128, _ encrypt: Cipher, _ generator: inout SeededGenerator
    ) -> DeviceAddress? {
        guard key != 0 else { return nil }
        let random = 0x40_0000 | UInt64.random(in: 1..<0x3F_FFFF, using: &generator)
        return DeviceAddress(random << 24 | hash(key, random, encrypt), kind: .random)
    }

    /// Whether an address was generated with a key. A key of 0 never matches.
    static func isMade(_ address: DeviceAddress, with key: UInt128, _ encrypt: Cipher) -> Bool {
        key != 0 && address.randomKind == .resolvablePrivate
            && hash(key, address.value >> 24, encrypt) == address.value & 0xFF_FFFF
    }

    /// The random address hash function ah (Vol 3, Part H, 2.2.2).
    private static func hash(_ key: UInt128, _ random: UInt64, _ encrypt: Cipher) -> UInt64 {
        UInt64(truncatingIfNeeded: encrypt(key, UInt128(random))) & 0xFF_FFFF
    }
}

extension DeviceAddress {
    /// The address as it is on the air: public or random.
    var unresolved: DeviceAddress { DeviceAddress(value, kind: kind.rawValue & 1 == 0 ? .public : .random) }
}
