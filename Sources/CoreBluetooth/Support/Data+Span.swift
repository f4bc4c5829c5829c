import Foundation

extension Data {
    /// A copy of octets.
    init(_ octets: Span<UInt8>) { self = octets.withUnsafeBytes { Data($0) } }
}
