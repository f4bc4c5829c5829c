// The names are those of Apple's headers.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Dispatch
import Foundation

extension DispatchTime {
    /// The interval from this time to another one.
    public func distance(to other: DispatchTime) -> DispatchTimeInterval {
        let (start, end) = (uptimeNanoseconds, other.uptimeNanoseconds)
        let distance = end >= start ? end - start : start - end
        let nanoseconds = Int(clamping: distance)
        return .nanoseconds(end >= start ? nanoseconds : -nanoseconds)
    }

    /// The time that an interval leads to.
    public func advanced(by interval: DispatchTimeInterval) -> DispatchTime { self + interval }
}

extension UserDefaults {
    /// The value of a key, as returned by `object(forKey:)`.
    public func value(forKey key: String) -> Any? { object(forKey: key) }

    /// Sets the value of a key, as `set(_:forKey:)` does.
    public func setValue(_ value: Any?, forKey key: String) { set(value, forKey: key) }
}

extension ProcessInfo {
    /// How hot the device is.
    public enum ThermalState: Int, Sendable {
        case nominal = 0
        case fair = 1
        case serious = 2
        case critical = 3
    }

    /// Always `nominal`: Linux has no such state.
    public var thermalState: ThermalState { .nominal }

    /// Always false.
    public var isMacCatalystApp: Bool { false }

    /// Always false.
    public var isiOSAppOnMac: Bool { false }

    /// Always false: Linux has no such mode.
    public var isLowPowerModeEnabled: Bool { false }
}

/// Joins the elements of a list, for people to read.
public final class ListFormatter: Formatter {
    /// The locale of the words between elements; nil for the current one.
    public var locale: Locale?
    /// Converts elements to text; nil for their descriptions.
    public var itemFormatter: Formatter?

    /// Joins strings in the current locale.
    public static func localizedString(byJoining strings: [String]) -> String { strings.formatted() }

    /// Joins elements; nil if `itemFormatter` cannot convert one of them.
    public func string(from items: [Any]) -> String? {
        var strings: [String] = []
        for item in items {
            guard let formatter = itemFormatter else {
                strings.append("\(item)")
                continue
            }
            guard let string = formatter.string(for: item) else { return nil }
            strings.append(string)
        }
        return strings.formatted(.list(type: .and).locale(locale ?? .current))
    }

    /// Joins the elements of an array; nil for other objects.
    public override func string(for object: Any?) -> String? { (object as? [Any]).flatMap(string(from:)) }
}

extension Measurement where UnitType == UnitInformationStorage {
    /// The amount of storage as text, as in `.formatted(.byteCount(style: .file))`.
    public func formatted(_ style: ByteCountFormatStyle) -> String {
        let bytes = converted(to: .bytes).value
        return style.format(bytes.isFinite ? Int64(exactly: bytes.rounded()) ?? .max : 0)
    }
}

/// The generator that `SecRandomCopyBytes` uses. There is only one.
public let kSecRandomDefault: OpaquePointer? = nil
/// The result of functions of the framework Security that succeed.
public let errSecSuccess: Int32 = 0

/// Fills a buffer with random bytes from the system's secure generator.
@discardableResult
public func SecRandomCopyBytes(_ generator: OpaquePointer?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32 {
    var system = SystemRandomNumberGenerator()
    for index in 0..<max(0, count) {
        bytes.storeBytes(of: UInt8.random(in: 0...255, using: &system), toByteOffset: index, as: UInt8.self)
    }
    return errSecSuccess
}
