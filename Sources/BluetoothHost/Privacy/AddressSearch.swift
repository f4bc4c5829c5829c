import BluetoothBase
import BluetoothSMP

/// Tries keys on several private addresses together, a few keys at a time.
///
/// Expanding a key before encryption costs as much as twenty blocks, so the cost per address falls with the number of
/// addresses.
struct AddressSearch: Sendable {
    /// The maximum number of addresses in a search.
    static let capacity = 64

    let addresses: [DeviceAddress]
    /// The device that generated each address, once all keys have been tried.
    private(set) var makers: [AddressResolver.Maker]
    /// The blocks to encrypt with each key.
    private let blocks: [UInt128]
    private var nextKey = 0
    /// The generation of the keys that have been tried; nil if none have.
    private var generation: Int?

    init(_ addresses: [DeviceAddress]) {
        self.addresses = addresses
        makers = Array(repeating: .stranger, count: addresses.count)
        blocks = addresses.map(\.resolvingBlock)
    }

    /// Tries the next keys.
    ///
    /// - Parameters:
    ///   - keys: all keys.
    ///   - generation: a number that changes with the keys. When it changes, the search starts over, because its
    ///     results may be wrong.
    ///   - count: the maximum number of keys to try.
    /// - Returns: whether all keys have been tried.
    mutating func advance(_ keys: [AddressResolver.Key], generation: Int, count: Int) -> Bool {
        if generation != self.generation { restart(generation) }
        let end = nextKey + min(count, keys.count - nextKey)
        while nextKey < end {
            var encrypted = blocks
            keys[nextKey].cipher.encrypt(&encrypted)
            for index in addresses.indices where addresses[index].isMade(from: encrypted[index]) {
                // If two bonds have the same key, the older one takes precedence.
                if makers[index] == .stranger { makers[index] = .peer(keys[nextKey].peer) }
            }
            nextKey += 1
        }
        return nextKey == keys.count
    }

    private mutating func restart(_ generation: Int) {
        self.generation = generation
        nextKey = 0
        makers = Array(repeating: .stranger, count: addresses.count)
    }
}
