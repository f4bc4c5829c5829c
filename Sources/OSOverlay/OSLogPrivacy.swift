import Foundation
import Synchronization

/// Whether a value may appear in the log.
public struct OSLogPrivacy: Equatable, Sendable {
    /// The replacement for a value that must not appear.
    public enum Mask: Equatable, Sendable {
        /// A hash, which is the same for equal values within one run of the program and does not reveal the value.
        case hash
        /// Nothing.
        case none
    }

    enum Kind { case automatic, `public`, `private`, sensitive }

    let kind: Kind
    let mask: Mask

    /// Numbers and Booleans appear. All other values are private.
    public static var auto: OSLogPrivacy { .init(kind: .automatic, mask: .none) }
    /// The value appears.
    public static var `public`: OSLogPrivacy { .init(kind: .public, mask: .none) }
    /// The value appears only if private data is shown.
    public static var `private`: OSLogPrivacy { .init(kind: .private, mask: .none) }
    /// The value never appears.
    public static var sensitive: OSLogPrivacy { .init(kind: .sensitive, mask: .none) }

    /// Numbers and Booleans appear. All other values are private, and replaced by `mask` when they do not appear.
    public static func auto(mask: Mask) -> OSLogPrivacy { .init(kind: .automatic, mask: mask) }
    /// The value appears only if private data is shown. Otherwise, `mask` determines its replacement.
    public static func `private`(mask: Mask) -> OSLogPrivacy { .init(kind: .private, mask: mask) }
    /// The value never appears. `mask` determines its replacement.
    public static func sensitive(mask: Mask) -> OSLogPrivacy { .init(kind: .sensitive, mask: mask) }

    /// The text of a value, or its replacement.
    ///
    /// - Parameter isScalar: whether the value is a number or a Boolean.
    func text(of value: String, isScalar: Bool) -> String {
        let isShown =
            switch kind {
            case .public: true
            case .automatic: isScalar || OSLog.showsPrivateData
            case .private: OSLog.showsPrivateData
            case .sensitive: false
            }
        if isShown { return isScalar ? value : escaped(value) }
        switch mask {
        case .none: return "<private>"
        case .hash: return "<mask.hash: '\(hash(value))'>"
        }
    }
}

extension OSLog {
    /// Whether private values appear. Apple's platforms use a configuration profile for this. Here, set the environment
    /// variable `OS_LOG_PRIVATE_DATA=1`, or this property.
    public static var showsPrivateData: Bool {
        get { privateData.load(ordering: .relaxed) }
        set { privateData.store(newValue, ordering: .relaxed) }
    }
}

private let privateData = Atomic(ProcessInfo.processInfo.environment["OS_LOG_PRIVATE_DATA"] == "1")

/// Escapes characters that could move a terminal's cursor or change the text direction, because values may come from
/// untrusted sources.
private func escaped(_ value: String) -> String {
    guard value.unicodeScalars.contains(where: isUnsafe) else { return value }
    return value.unicodeScalars.reduce(into: "") { text, scalar in
        if isUnsafe(scalar) {
            text += "\\u{" + String(scalar.value, radix: 16) + "}"
        } else {
            text.unicodeScalars.append(scalar)
        }
    }
}

private func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "\n", "\t": false
    default:
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        // Bidirectional embeddings, overrides and isolates.
        case .format: (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        default: false
        }
    }
}

/// Uses the standard library's hash, which is seeded randomly when the program starts.
private func hash(_ value: String) -> String {
    withUnsafeBytes(of: value.hashValue.bigEndian) { Data($0).base64EncodedString() }
}
