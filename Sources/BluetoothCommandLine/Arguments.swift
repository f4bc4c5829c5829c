import ArgumentParser
import BluetoothLE

extension BluetoothUUID: ExpressibleByArgument {
    /// Parses a UUID of 4 or 8 hexadecimal digits, or of 36 characters. Returns nil for any other text, and records the
    /// reason.
    public init?(argument: String) {
        guard let uuid = BluetoothUUID(argument) else {
            ArgumentRefusal.note(
                argument,
                "a UUID has 4 or 8 hexadecimal digits, such as 180D, or 36 characters, such as "
                    + "9D534E8B-2153-4F6D-B2B0-8C68665A7274")
            return nil
        }
        self = uuid
    }
}

extension DeviceAddress: ExpressibleByArgument {
    static var expectation: String {
        "an address has six octets, such as C0:11:22:33:44:55; /P marks a public one, /R a random one"
    }

    /// Parses an address of six octets, which may end in `/P` or `/R`. Returns nil for any other text, and records the
    /// reason.
    public init?(argument: String) {
        guard let address = DeviceAddress(argument) else {
            ArgumentRefusal.note(argument, Self.expectation)
            return nil
        }
        self = address
    }
}

/// A range of signal strengths in dBm, as `MIN..MAX`.
public struct SignalStrengths: ExpressibleByArgument, Equatable, Sendable {
    /// The weakest and the strongest signal, in dBm.
    public var range: ClosedRange<Int8>

    /// Parses `MIN..MAX`, the weaker strength first. Returns nil for any other text, and records the reason.
    public init?(argument: String) {
        guard let dots = argument.firstRange(of: ".."), let minimum = Int8(argument[..<dots.lowerBound]),
            let maximum = Int8(argument[dots.upperBound...]), minimum <= maximum
        else {
            ArgumentRefusal.note(
                argument, "a range is MIN..MAX, the weaker one first, each from -128 to 127 dBm, such as -70..0")
            return nil
        }
        range = minimum...maximum
    }
}

/// A time in seconds, such as `30` or `0.5`: more than 0, and at most a year.
public struct Seconds: ExpressibleByArgument, Equatable, Sendable, CustomStringConvertible {
    /// The time in whole milliseconds.
    public var duration: Duration { .milliseconds(milliseconds) }
    private let milliseconds: Int64

    /// Parses a number of seconds from 0.001 to 31,536,000, and rounds it to milliseconds. Returns nil for any other
    /// text, and records the reason.
    public init?(argument: String) {
        guard let value = Double(argument), value >= 0.001, value <= 31_536_000 else {
            ArgumentRefusal.note(argument, "a time is a number of seconds, from 0.001 to 31536000")
            return nil
        }
        milliseconds = Int64((value * 1000).rounded())
    }

    /// Creates a default value.
    public init(_ seconds: Int64) {
        milliseconds = seconds * 1000
    }

    /// The number alone, as in the argument.
    public var description: String {
        milliseconds.isMultiple(of: 1000) ? "\(milliseconds / 1000)" : "\(Double(milliseconds) / 1000)"
    }
}

/// A count of at least one.
public struct PositiveCount: ExpressibleByArgument, Equatable, Sendable, CustomStringConvertible {
    /// The count, at least one.
    public let value: Int

    /// Creates a default value.
    public init(_ value: Int) { self.value = value }

    /// The count in decimal, as in the argument.
    public var description: String { "\(value)" }

    /// Parses a decimal number of at least one. Returns nil for any other text, and records the reason.
    public init?(argument: String) {
        guard let value = Int(argument), value > 0 else {
            ArgumentRefusal.note(argument, "give a number, at least 1")
            return nil
        }
        self.value = value
    }
}

extension Subscriber.ChunkSize: ExpressibleByArgument {
    /// Parses a number of octets, or `mtu` for the maximum that fits in a notification.
    public init?(argument: String) {
        if argument == "mtu" {
            self = .maximum
        } else if let octets = Int(argument), (1...509).contains(octets) {
            self = .octets(octets)
        } else {
            ArgumentRefusal.note(argument, "give 1 to 509 octets, or mtu")
            return nil
        }
    }

    /// The number of octets, or `mtu`, as in the argument.
    public var defaultValueDescription: String {
        switch self {
        case .octets(let count): "\(count)"
        case .maximum: "mtu"
        }
    }
}
