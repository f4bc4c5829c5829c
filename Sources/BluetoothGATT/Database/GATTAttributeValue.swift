/// Where the value of an attribute comes from.
@nonexhaustive
public enum GATTAttributeValue: Equatable, Sendable {
    /// The server always returns these octets.
    case constant([UInt8])
    /// The server keeps the value. Its length never changes: a shorter write changes only the first octets (Core 5.4,
    /// Vol 3, Part F, 3.4.5.1).
    case fixedLength([UInt8])
    /// The server keeps the value, and a write sets its length, up to `maximum` octets.
    case variableLength([UInt8], maximum: Int = GATTAttributeValue.maximumLength)
    /// The server asks the application at each read and each write.
    case dynamic
    /// The Client Supported Features of the requesting client (Vol 3, Part G, 7.2).
    case clientSupportedFeatures

    /// The maximum length of an attribute value, in octets (Vol 3, Part F, 3.2.9).
    @inlinable public static var maximumLength: Int { 512 }

    // The enumeration's own cases are preferred for arrays and literals.

    /// The server always returns these octets.
    @_disfavoredOverload
    public static func constant(_ octets: some Collection<UInt8>) -> Self { .constant(Array(octets)) }

    /// The server keeps the value. Its length never changes.
    @_disfavoredOverload
    public static func fixedLength(_ octets: some Collection<UInt8>) -> Self { .fixedLength(Array(octets)) }

    /// The server keeps the value, and a write sets its length, up to `maximum` octets.
    @_disfavoredOverload
    public static func variableLength(
        _ octets: some Collection<UInt8>, maximum: Int = GATTAttributeValue.maximumLength
    ) -> Self {
        .variableLength(Array(octets), maximum: maximum)
    }
}
