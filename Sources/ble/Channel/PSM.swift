import ArgumentParser
import BluetoothBase
import BluetoothCommandLine
import BluetoothL2CAP

/// The number of a service over L2CAP channels, as a user writes it: 128 or 0x80.
struct PSM: ExpressibleByArgument, CustomStringConvertible {
    let number: UInt16

    init(number: UInt16) { self.number = number }

    /// Returns nil unless the number is a valid SPSM (Core 5.4, Vol 3, Part A, 4.22).
    init?(argument: String) {
        let isHexadecimal = argument.hasPrefix("0x") || argument.hasPrefix("0X")
        let digits = isHexadecimal ? argument.dropFirst(2) : argument[...]
        guard let number = UInt16(digits, radix: isHexadecimal ? 16 : 10), (0x01...0xFF).contains(number),
            !digits.hasPrefix("+")
        else {
            ArgumentRefusal.note(argument, "a PSM is a number from 1 to 255, such as 0x80")
            return nil
        }
        guard number != SPSM.enhancedATT else {
            ArgumentRefusal.note(argument, "this PSM is reserved for the Enhanced Attribute Protocol")
            return nil
        }
        self.number = number
    }

    var description: String { "0x" + hexadecimal(number, digits: 4) }
}

/// A service to offer: one with a given number, or with any free number.
enum OfferedPSM: ExpressibleByArgument {
    case any
    case one(PSM)

    init?(argument: String) {
        if argument == "any" {
            self = .any
        } else {
            guard let psm = PSM(argument: argument) else { return nil }
            self = .one(psm)
        }
    }

    var number: UInt16? {
        switch self {
        case .any: nil
        case .one(let psm): psm.number
        }
    }
}
