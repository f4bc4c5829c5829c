/// A list of numbers and their names.
struct NameList: Sendable {
    private struct Entry {
        var number: UInt16
        /// The position of the name in the text.
        var name: Range<Int>
    }

    let text: StaticString
    /// The lines, in ascending order of their numbers.
    private let entries: [Entry]

    /// - Parameter text: lines that consist of four upper-case hexadecimal digits, a space and a name, in ascending
    ///   order.
    init(_ text: StaticString) {
        self.text = text
        entries = text.withUTF8Buffer { text in
            text.split(separator: 0x0A).map { line in
                let number = line.prefix(4).reduce(0) { $0 << 4 | Self.value(ofDigit: $1) }
                return Entry(number: number, name: min(line.startIndex + 5, line.endIndex)..<line.endIndex)
            }
        }
    }

    /// The number of names.
    var count: Int { entries.count }

    /// Returns the name of a number, or nil if it has none.
    func name(of number: UInt16) -> String? {
        var range = 0..<entries.count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            let entry = entries[middle]
            if entry.number == number {
                return text.withUTF8Buffer { String(decoding: $0[entry.name], as: UTF8.self) }
            }
            range = entry.number < number ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }

    private static func value(ofDigit digit: UInt8) -> UInt16 {
        UInt16(digit <= UInt8(ascii: "9") ? digit &- UInt8(ascii: "0") : digit &- UInt8(ascii: "A") &+ 10)
    }
}
