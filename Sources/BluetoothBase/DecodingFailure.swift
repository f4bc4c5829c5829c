/// Why received bytes could not be decoded, and at which byte.
///
/// Every decoder of this package throws this type. It holds no references, so throwing it on hostile input allocates
/// nothing.
public struct DecodingFailure: Error, Equatable, Sendable {
    /// The reason.
    @nonexhaustive
    public enum Reason: Equatable, Sendable {
        /// There were fewer bytes than the layout requires; `missing` is how many more were needed.
        case truncated(missing: Int)
        /// There were more bytes than the layout allows.
        case trailingBytes(count: Int)
        /// A length field contradicts the number of bytes, or a list is not a whole number of elements.
        case invalidLength
        /// A field holds a value the specification does not allow.
        case invalidValue
        /// The opcode, code or type that selects a layout is unknown.
        case unknownCode(UInt16)
    }

    /// Why decoding failed.
    public var reason: Reason
    /// The index of the offending byte, counted from the first byte passed to the decoder.
    public var offset: Int

    /// Creates a failure at a byte, counted from the first byte passed to the decoder.
    @inlinable
    public init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}

extension DecodingFailure: CustomStringConvertible {
    /// The reason and the place, such as `truncated at byte 3: 2 more needed`.
    public var description: String {
        switch reason {
        case .truncated(let missing): "truncated at byte \(offset): \(missing) more needed"
        case .trailingBytes(let count): "\(count) unexpected bytes from byte \(offset)"
        case .invalidLength: "invalid length at byte \(offset)"
        case .invalidValue: "invalid value at byte \(offset)"
        case .unknownCode(let code): "unknown code 0x\(String(code, radix: 16, uppercase: true)) at byte \(offset)"
        }
    }
}
