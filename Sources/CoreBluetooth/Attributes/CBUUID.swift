import BluetoothBase
import Foundation

/// A UUID of 16, 32 or 128 bits: the type of an attribute, or an advertised service (Core 5.4, Vol 3, Part B, 2.5.1).
///
/// A short UUID equals the 128-bit UUID that it represents.
open class CBUUID: NSObject, NSCopying {
    private var octets = zeros
    package private(set) var bluetoothUUID = BluetoothUUID(bigEndian: zeros)

    private static let zeros = [UInt8](repeating: 0, count: 16)

    /// The octets that the UUID was created from: 2, 4 or 16, in the order of the text.
    open var data: Data { Data(octets) }

    /// The text: 4 or 8 digits, or 32 in groups.
    open var uuidString: String {
        switch octets.count {
        case 2, 4: octets.map { String(format: "%02X", $0) }.joined()
        default: UUID(bluetoothUUID).uuidString
        }
    }

    /// Creates a UUID of zeros.
    // The only designated initializer: subclasses then inherit the others.
    public override init() {}

    /// Creates a UUID from its text.
    ///
    /// - Parameter theString: 4 or 8 hexadecimal digits, or 32 in groups (8-4-4-4-12), with or without a leading `0x`.
    ///   Anything else is a programming error.
    public convenience init(string theString: String) {
        guard let octets = Self.octets(of: theString) else {
            preconditionFailure("String \(theString) does not represent a valid UUID")
        }
        self.init(octets: octets)
    }

    /// Creates a UUID from its octets.
    ///
    /// - Parameter theData: 2, 4 or 16 octets, in the order of the text. Anything else is a programming error.
    public convenience init(data theData: Data) {
        precondition([2, 4, 16].contains(theData.count), "Data \(theData as NSData) does not represent a valid UUID")
        self.init(octets: [UInt8](theData))
    }

    /// Creates a UUID from a `UUID` of Foundation.
    public convenience init(nsuuid theUUID: UUID) {
        self.init(octets: withUnsafeBytes(of: theUUID.uuid) { Array($0) })
    }

    /// Creates a UUID from a `CFUUID` of Core Foundation.
    @available(*, deprecated, message: "use init(nsuuid:)")
    public convenience init(cfuuid theUUID: CFUUID) {
        let bytes = CFUUIDGetUUIDBytes(theUUID)
        self.init(octets: withUnsafeBytes(of: bytes) { Array($0) })
    }

    /// Creates a UUID from one of the stack's, in its shortest form.
    package convenience init(_ uuid: BluetoothUUID) {
        self.init(octets: uuid.shortestOctets)
    }

    convenience init(octets: [UInt8]) {
        self.init()
        self.octets = octets
        bluetoothUUID = BluetoothUUID(bigEndian: octets)
    }

    /// The octets of a text; nil if it is not a UUID.
    static func octets(of text: String) -> [UInt8]? {
        let text = text.hasPrefix("0x") || text.hasPrefix("0X") ? text.dropFirst(2) : text[...]
        let digits: [Character]
        switch text.count {
        case 4, 8: digits = Array(text)
        case 36:
            let groups = text.split(separator: "-", omittingEmptySubsequences: false)
            guard groups.map(\.count) == [8, 4, 4, 4, 12] else { return nil }
            digits = groups.flatMap { $0 }
        default: return nil
        }
        guard digits.allSatisfy(\.isASCII) else { return nil }
        let octets = stride(from: 0, to: digits.count, by: 2).map { index -> UInt8? in
            guard let high = digits[index].hexDigitValue, let low = digits[index + 1].hexDigitValue else { return nil }
            return UInt8(high << 4 | low)
        }
        return octets.contains(nil) ? nil : octets.compactMap(\.self)
    }

    open override func isEqual(_ object: Any?) -> Bool {
        (object as? CBUUID)?.bluetoothUUID == bluetoothUUID
    }

    open override var hash: Int { bluetoothUUID.hashValue }

    /// The name that the Bluetooth SIG has assigned to the UUID, otherwise its text.
    open override var description: String { AssignedNames.name(of: bluetoothUUID) ?? uuidString }

    open func copy(with zone: NSZone? = nil) -> Any { self }
}

extension UUID {
    fileprivate init(_ uuid: BluetoothUUID) {
        self = withUnsafeBytes(of: (uuid.high.bigEndian, uuid.low.bigEndian)) {
            UUID(uuid: $0.loadUnaligned(as: uuid_t.self))
        }
    }
}

extension BluetoothUUID {
    /// The octets in the order of the text, in the shortest form.
    fileprivate var shortestOctets: [UInt8] {
        if let short = uint16 { return withUnsafeBytes(of: short.bigEndian) { Array($0) } }
        if let short = shortValue { return withUnsafeBytes(of: short.bigEndian) { Array($0) } }
        return withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
    }

    /// - Parameter octets: 2, 4 or 16.
    fileprivate init(bigEndian octets: [UInt8]) {
        func number(_ range: Range<Int>) -> UInt64 { octets[range].reduce(0) { $0 << 8 | UInt64($1) } }
        switch octets.count {
        case 16: self.init(high: number(0..<8), low: number(8..<16))
        default: self.init(uint32: UInt32(truncatingIfNeeded: number(0..<octets.count)))
        }
    }
}
