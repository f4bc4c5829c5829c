import Foundation

extension Data {
    /// A copy of octets.
    init(_ octets: Span<UInt8>) { self = octets.withUnsafeBytes { Data($0) } }

    /// The octets. `[UInt8](data)` copies them one by one, which costs five times as much.
    var octets: [UInt8] { withUnsafeBytes { Array($0) } }
}
