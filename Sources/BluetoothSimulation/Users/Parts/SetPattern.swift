/// Data that reveals truncation and mixing: a length and a number, followed by octets that depend on the position and
/// the number.
enum SetPattern {
    static func data(_ length: Int, number: UInt8) -> [UInt8] {
        // Not structured as AD structures, because one would be too short for all of the data.
        (0..<length).map { octet($0, length, number) }
    }

    private static func octet(_ index: Int, _ length: Int, _ number: UInt8) -> UInt8 {
        switch index {
        case 0: UInt8(truncatingIfNeeded: length)
        case 1: UInt8(truncatingIfNeeded: length >> 8)
        case 2: number
        default: UInt8(truncatingIfNeeded: index &* 7) ^ number
        }
    }

    static func isWhole(_ data: [UInt8]) -> Bool {
        guard data.count >= 3 else { return false }
        return data == Self.data(Int(data[0]) | Int(data[1]) << 8, number: data[2])
    }
}
