import BluetoothBase

/// The commands that a controller supports, one bit each (Core 5.4, Vol 4, Part E, 6.27).
public struct SupportedCommands: Hashable, Sendable {
    /// The 64 octets, eight per integer, least significant octet first.
    private var words: [UInt64]

    /// Creates an empty set.
    public init() { words = Array(repeating: 0, count: 8) }

    /// Returns whether a bit is set. The result is false outside the 64 octets.
    public func contains(octet: Int, bit: Int) -> Bool {
        guard (0..<64).contains(octet), (0..<8).contains(bit) else { return false }
        return words[octet / 8] >> UInt64(octet % 8 * 8 + bit) & 1 == 1
    }

    /// Sets a bit. Does nothing outside the 64 octets.
    public mutating func insert(octet: Int, bit: Int) {
        guard (0..<64).contains(octet), (0..<8).contains(bit) else { return }
        words[octet / 8] |= 1 << UInt64(octet % 8 * 8 + bit)
    }

    /// Returns whether the controller supports a command. Read Local Supported Commands has no bit and is always
    /// supported. A command that is not in the catalog is treated as not supported.
    public func contains(_ opcode: HCIOpcode) -> Bool {
        guard let entry = HCICommandCatalog.entry(for: opcode) else { return false }
        guard let (octet, bit) = entry.supportBit else { return true }
        return contains(octet: octet, bit: bit)
    }

    /// Sets the bit of a command that is in the catalog.
    public mutating func insert(_ opcode: HCIOpcode) {
        guard let (octet, bit) = HCICommandCatalog.entry(for: opcode)?.supportBit else { return }
        insert(octet: octet, bit: bit)
    }
}

extension SupportedCommands: ExpressibleByArrayLiteral {
    /// Creates a set with the bits of these commands. Commands that have no bit or are not in the catalog are ignored.
    public init(arrayLiteral opcodes: HCIOpcode...) {
        self.init()
        for opcode in opcodes { insert(opcode) }
    }
}

extension SupportedCommands: HCIParameter {
    init(decoding reader: inout ByteReader) throws(DecodingFailure) {
        self.init()
        for index in words.indices { words[index] = try reader.readUInt64() }
    }

    func encode(into writer: inout ByteWriter) {
        for word in words { writer.append(word) }
    }
}
