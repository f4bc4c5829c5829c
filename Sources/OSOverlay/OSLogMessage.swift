import Foundation

/// A log message in which each interpolated value has a privacy option.
public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
    let text: String

    /// Creates a message without interpolated values. Its text is public.
    public init(stringLiteral value: String) { text = value }

    /// Creates a message from its literal parts and its interpolated values.
    public init(stringInterpolation: OSLogInterpolation) { text = stringInterpolation.text }
}

/// Builds a log message.
public struct OSLogInterpolation: StringInterpolationProtocol {
    fileprivate private(set) var text = ""

    /// Creates an empty message. Both arguments are only hints, which are not used.
    public init(literalCapacity: Int, interpolationCount: Int) {}

    /// Appends a literal part of the message. Literals are always public.
    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Appends a string, which is private by default.
    public mutating func appendInterpolation(
        _ string: String, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        text += align.aligned(privacy.text(of: string, isScalar: false))
    }

    /// Appends any other value with a description, which is private by default.
    @_disfavoredOverload
    public mutating func appendInterpolation(
        _ value: some CustomStringConvertible, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        text += align.aligned(privacy.text(of: value.description, isScalar: false))
    }

    /// Appends the description of an object, or `(null)` if it is nil. It is private by default.
    public mutating func appendInterpolation(
        _ value: (some NSObject)?, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        text += align.aligned(privacy.text(of: value?.description ?? "(null)", isScalar: false))
    }

    /// Appends the name of a type, which is public by default.
    public mutating func appendInterpolation(
        _ value: any Any.Type, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        // The name of a type comes from the program itself.
        text += align.aligned(privacy.text(of: String(describing: value), isScalar: privacy == .auto))
    }

    /// Appends the description of an error, which is private by default.
    public mutating func appendInterpolation(
        _ error: any Error, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        text += align.aligned(privacy.text(of: String(describing: error), isScalar: false))
    }

    /// Appends an integer, which is public by default.
    public mutating func appendInterpolation(
        _ number: some FixedWidthInteger, format: OSLogIntegerFormatting = .decimal,
        align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        text += align.aligned(privacy.text(of: format.text(of: number), isScalar: true))
    }

    /// Appends a floating-point number, by default with six fractional digits. It is public by default.
    public mutating func appendInterpolation(
        _ number: Double, format: OSLogFloatFormatting = .fixed, align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto
    ) {
        text += align.aligned(privacy.text(of: format.text(of: number), isScalar: true))
    }

    /// Appends a floating-point number, by default with six fractional digits. It is public by default.
    public mutating func appendInterpolation(
        _ number: Float, format: OSLogFloatFormatting = .fixed, align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto
    ) {
        appendInterpolation(Double(number), format: format, align: align, privacy: privacy)
    }

    /// Appends a floating-point number, by default with six fractional digits. It is public by default.
    public mutating func appendInterpolation(
        _ number: CGFloat, format: OSLogFloatFormatting = .fixed, align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto
    ) {
        appendInterpolation(Double(number), format: format, align: align, privacy: privacy)
    }

    /// Appends a Boolean, which is public by default.
    public mutating func appendInterpolation(
        _ boolean: Bool, format: OSLogBoolFormat = .truth, privacy: OSLogPrivacy = .auto
    ) {
        let word =
            switch format {
            case .truth: boolean ? "true" : "false"
            case .answer: boolean ? "yes" : "no"
            }
        text += privacy.text(of: word, isScalar: true)
    }

    /// Appends a memory address, which is public by default. Disfavored, because strings and arrays convert implicitly
    /// to pointers.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ pointer: UnsafeRawPointer?, privacy: OSLogPrivacy = .auto) {
        text += privacy.text(
            of: pointer.map { "0x" + String(UInt(bitPattern: $0), radix: 16) } ?? "0x0", isScalar: true)
    }
}
