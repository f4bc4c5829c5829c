/// A fuzzer's bytes as a script: numbers for choices, and pieces of data. It never runs out: missing numbers read as
/// zero, and missing data as empty.
public struct Script {
    private var rest: ArraySlice<UInt8>

    /// Creates a script from an input.
    public init(_ bytes: Span<UInt8>) {
        rest = bytes.withUnsafeBufferPointer { Array($0)[...] }
    }

    /// Whether no bytes remain.
    public var isEmpty: Bool { rest.isEmpty }

    /// The next byte.
    public mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// A number from 0 to below `count`.
    public mutating func choice(of count: Int) -> Int { Int(byte()) % count }

    /// A piece of data, preceded by its length in one octet.
    public mutating func chunk() -> [UInt8] {
        let length = min(Int(byte()), rest.count)
        defer { rest = rest.dropFirst(length) }
        return Array(rest.prefix(length))
    }

    /// All remaining bytes.
    public mutating func remainder() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }

    /// Steps of a script that are carried out.
    public static let limit = 64
}

/// An invariant that failed.
public struct Violation: Error, CustomStringConvertible {
    /// What does not hold.
    public var description: String

    /// Creates a violation.
    public init(description: String) { self.description = description }
}

/// Throws unless `condition` holds.
public func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    guard condition else { throw Violation(description: message()) }
}
