import ArgumentParser
import BluetoothLE

extension BluetoothUUID: ExpressibleByArgument {
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

    public init?(argument: String) {
        guard let address = DeviceAddress(argument) else {
            ArgumentRefusal.note(argument, Self.expectation)
            return nil
        }
        self = address
    }
}

/// A window of signal strengths in dBm, as `MIN..MAX`.
public struct SignalStrengths: ExpressibleByArgument, Equatable, Sendable {
    public var range: ClosedRange<Int8>

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
    public var duration: Duration { .milliseconds(milliseconds) }
    private let milliseconds: Int64

    public init?(argument: String) {
        guard let value = Double(argument), value >= 0.001, value <= 31_536_000 else {
            ArgumentRefusal.note(argument, "a time is a number of seconds, from 0.001 to 31536000")
            return nil
        }
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

/// A number of things, at least one.
public struct PositiveCount: ExpressibleByArgument, Equatable, Sendable, CustomStringConvertible {
    public let value: Int

    /// A default.
    public init(_ value: Int) { self.value = value }

    public var description: String { "\(value)" }

    public init?(argument: String) {
        guard let value = Int(argument), value > 0 else {
            ArgumentRefusal.note(argument, "it is a number, at least 1")
            return nil
        }
        self.value = value
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
            ArgumentRefusal.note(argument, "from 1 to 509 octets fit, or mtu")
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
