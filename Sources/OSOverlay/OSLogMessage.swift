import Foundation

/// A message for the log: text in which each value says whether it may appear.
public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
    let text: String

    public init(stringLiteral value: String) { text = value }

    public init(stringInterpolation: OSLogInterpolation) { text = stringInterpolation.text }
}

/// Puts a message together.
public struct OSLogInterpolation: StringInterpolationProtocol {
    fileprivate private(set) var text = ""

    public init(literalCapacity: Int, interpolationCount: Int) {}

    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// A string: private unless said otherwise.
    public mutating func appendInterpolation(
        _ string: String, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        text += align.aligned(privacy.text(of: string, isScalar: false))
    }

    /// Any other value with a description: private unless said otherwise.
    @_disfavoredOverload
    public mutating func appendInterpolation(
        _ value: some CustomStringConvertible, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        text += align.aligned(privacy.text(of: value.description, isScalar: false))
    }

    public mutating func appendInterpolation(
        _ value: (some NSObject)?, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        text += align.aligned(privacy.text(of: value?.description ?? "(null)", isScalar: false))
    }

    public mutating func appendInterpolation(
        _ value: any Any.Type, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        // A type's name is the program's own.
        text += align.aligned(privacy.text(of: String(describing: value), isScalar: privacy == .auto))
    }

    /// An error's domain, code and description: private unless said otherwise.
    public mutating func appendInterpolation(
        _ error: any Error, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        text += align.aligned(privacy.text(of: String(describing: error), isScalar: false))
    }

    /// An integer: public unless said otherwise.
    public mutating func appendInterpolation(
        _ number: some FixedWidthInteger, format: OSLogIntegerFormatting = .decimal,
        align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
        text += align.aligned(privacy.text(of: format.text(of: number), isScalar: true))
    }

    /// A number with a fraction, of six digits unless said otherwise: public unless said otherwise.
    public mutating func appendInterpolation(
        _ number: Double, format: OSLogFloatFormatting = .fixed, align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto
    ) {
        text += align.aligned(privacy.text(of: format.text(of: number), isScalar: true))
    }

    public mutating func appendInterpolation(
        _ number: Float, format: OSLogFloatFormatting = .fixed, align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto
    ) {
        appendInterpolation(Double(number), format: format, align: align, privacy: privacy)
    }

    public mutating func appendInterpolation(
        _ number: CGFloat, format: OSLogFloatFormatting = .fixed, align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto
    ) {
        appendInterpolation(Double(number), format: format, align: align, privacy: privacy)
    }

    /// A truth value: public unless said otherwise.
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

    /// An address in memory: public unless said otherwise. Not preferred, for strings and arrays turn into addresses.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ pointer: UnsafeRawPointer?, privacy: OSLogPrivacy = .auto) {
        text += privacy.text(
            of: pointer.map { "0x" + String(UInt(bitPattern: $0), radix: 16) } ?? "0x0", isScalar: true)
    }
}
