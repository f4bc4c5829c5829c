import ArgumentParser
import BluetoothLE

extension BluetoothUUID: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension DeviceAddress: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

/// A window of signal strengths in dBm, as `MIN..MAX`.
public struct SignalStrengths: ExpressibleByArgument, Equatable, Sendable {
    public var range: ClosedRange<Int8>

    public init?(argument: String) {
        guard let dots = argument.firstRange(of: ".."), let minimum = Int8(argument[..<dots.lowerBound]),
            let maximum = Int8(argument[dots.upperBound...]), minimum <= maximum
        else { return nil }
        range = minimum...maximum
    }
}

/// A time in seconds, such as `30` or `0.5`: more than 0, and at most a year.
public struct Seconds: ExpressibleByArgument, Equatable, Sendable, CustomStringConvertible {
    public var duration: Duration { .milliseconds(milliseconds) }
    private let milliseconds: Int64

    public init?(argument: String) {
        guard let value = Double(argument), value >= 0.001, value <= 31_536_000 else { return nil }
        milliseconds = Int64((value * 1000).rounded())
    }

    /// A default.
    public init(_ seconds: Int64) {
        milliseconds = seconds * 1000
    }

    /// Only the number, as in the argument.
    public var description: String {
        milliseconds.isMultiple(of: 1000) ? "\(milliseconds / 1000)" : "\(Double(milliseconds) / 1000)"
    }
}

extension Subscriber.ChunkSize: ExpressibleByArgument {
    /// Reads a number of octets, or `mtu` for as many as fit into a notification.
    public init?(argument: String) {
        if argument == "mtu" {
            self = .maximum
        } else if let octets = Int(argument), (1...509).contains(octets) {
            self = .octets(octets)
        } else {
            return nil
        }
    }

    public var defaultValueDescription: String {
        switch self {
        case .octets(let count): "\(count)"
        case .maximum: "mtu"
        }
    }
}
