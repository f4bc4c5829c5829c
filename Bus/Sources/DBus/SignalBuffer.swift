import Glibc

/// A signal in the wire format of D-Bus, for signals that are sent often: making one costs a fraction of a `Message`,
/// and no allocation.
///
/// The memory is fixed and managed here, because accesses to an array in a class are checked each time. A signal that
/// does not fit is not complete, and is not sent.
package final class SignalBuffer: ValueWriter {
    /// The maximum length of a signal. A unix socket accepts all octets of a message of this length, or none.
    private static let capacity = 16_384
    /// The maximum depth of containers in D-Bus.
    private static let depthLimit = 64

    private let start = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    /// The octets of the signal. More than the capacity if it did not fit.
    private var count = 0
    /// For each open container, the position of its length and the alignment of its elements if it is an array.
    private let containers = UnsafeMutablePointer<(length: Int, alignment: Int)?>.allocate(capacity: depthLimit)
    private var depth = 0
    private var bodyStart = 0

    package init() { containers.initialize(repeating: nil, count: Self.depthLimit) }

    deinit {
        start.deallocate()
        containers.deallocate()
    }

    /// Begins a signal, without values.
    ///
    /// - Parameter signature: the signature of all values that will be appended.
    package func begin(_ path: ObjectPath, _ interface: String, _ member: String, signature: String) {
        count = 0
        depth = 0
        // Little-endian, a signal, no reply expected, version 1.
        append(UInt8(ascii: "l"), 4, 1, 1)
        // The length of the body. Then the serial number: no reply refers to a signal, so all have the same one.
        append(UInt32(0))
        append(UInt32(1))
        append(UInt32(0))
        appendField(1, UInt8(ascii: "o"), path.description)
        appendField(2, UInt8(ascii: "s"), interface)
        appendField(3, UInt8(ascii: "s"), member)
        align(8)
        append(8, 1, UInt8(ascii: "g"), 0)
        appendSignature(signature)
        set(UInt32(truncatingIfNeeded: count - Self.fixedLength), at: Self.fixedLength - 4)
        align(8)
        bodyStart = count
    }

    /// The header up to the length of its fields.
    private static let fixedLength = 16

    /// The complete signal, for as long as the closure runs; nil if it does not fit.
    func withSignal<Result>(_ body: (UnsafeRawBufferPointer?) -> Result) -> Result {
        guard count <= Self.capacity, depth == 0 else { return body(nil) }
        set(UInt32(truncatingIfNeeded: count - bodyStart), at: 4)
        return body(UnsafeRawBufferPointer(start: start, count: count))
    }

    private func appendField(_ code: UInt8, _ type: UInt8, _ text: String) {
        align(8)
        append(code, 1, type, 0)
        appendText(text)
    }

    // MARK: - Values

    package func append(name: String) { appendText(name) }
    package func append(_ number: UInt16) { appendNumber(number) }

    package func append(octets: [UInt8]) {
        append(UInt32(truncatingIfNeeded: octets.count))
        octets.withUnsafeBytes { put($0) }
    }

    package func append(_ value: DBusValue) throws(BusFailure) {
        switch value {
        case .byte(let number): appendNumber(number)
        case .boolean(let flag): append(UInt32(flag ? 1 : 0))
        case .int16(let number): appendNumber(number)
        case .uint16(let number): appendNumber(number)
        case .int32(let number): appendNumber(number)
        case .uint32(let number): appendNumber(number)
        case .int64(let number): appendNumber(number)
        case .uint64(let number): appendNumber(number)
        case .double(let number): appendNumber(number.bitPattern)
        case .string(let text): appendText(BusText.valid(text))
        case .objectPath(let path): appendText(path.description)
        case .signature(let signature): appendSignature(signature)
        case .bytes(let octets): append(octets: octets)
        // Descriptors travel beside a message.
        case .fileDescriptor: throw .invalidMessage(errno: EOPNOTSUPP)
        case .array, .dictionary, .structure, .variant: try append(members: value)
        }
    }

    package func open(_ type: Unicode.Scalar, _ contents: String) throws(BusFailure) {
        guard depth < Self.depthLimit, contents.utf8.count <= 255 else { throw .invalidMessage(errno: E2BIG) }
        switch type {
        case "a":
            append(UInt32(0))
            let alignment = Self.alignment(of: contents.utf8.first)
            containers[depth] = (count - 4, alignment)
            align(alignment)
        case "v":
            appendSignature(contents)
            containers[depth] = nil
        default:
            align(8)
            containers[depth] = nil
        }
        depth += 1
    }

    package func close() {
        guard depth > 0 else { return }
        depth -= 1
        guard let (length, alignment) = containers[depth] else { return }
        let elements = (length + 4 + alignment - 1) & ~(alignment - 1)
        set(UInt32(truncatingIfNeeded: count - elements), at: length)
    }

    private static func alignment(of type: UInt8?) -> Int {
        switch type.map(Unicode.Scalar.init) {
        case "n", "q": 2
        case "b", "i", "u", "s", "o", "a", "h": 4
        case "x", "t", "d", "(", "{": 8
        default: 1
        }
    }

    // MARK: - Octets

    private func put(_ octets: UnsafeRawBufferPointer) {
        if let source = octets.baseAddress, count + octets.count <= Self.capacity {
            memcpy(start + count, source, octets.count)
        }
        count += octets.count
    }

    private func put(_ octet: UInt8) {
        if count < Self.capacity { start[count] = octet }
        count += 1
    }

    private func append(_ first: UInt8, _ second: UInt8, _ third: UInt8, _ fourth: UInt8) {
        put(first)
        put(second)
        put(third)
        put(fourth)
    }

    private func align(_ alignment: Int) {
        while count & (alignment - 1) != 0 { put(0) }
    }

    private func appendNumber<Number: FixedWidthInteger>(_ number: Number) {
        align(MemoryLayout<Number>.size)
        withUnsafeBytes(of: number.littleEndian) { put($0) }
    }

    private func append(_ number: UInt32) { appendNumber(number) }

    private func set(_ number: UInt32, at position: Int) {
        guard position + 4 <= Self.capacity else { return }
        withUnsafeBytes(of: number.littleEndian) { octets in
            for index in 0..<4 { start[position + index] = octets[index] }
        }
    }

    private func appendText(_ text: String) {
        append(UInt32(truncatingIfNeeded: text.utf8.count))
        appendOctets(of: text)
    }

    private func appendSignature(_ signature: String) {
        put(UInt8(truncatingIfNeeded: signature.utf8.count))
        appendOctets(of: signature)
    }

    /// Appends text with the NUL after it.
    private func appendOctets(of text: String) {
        var text = text
        text.withUTF8 { put(UnsafeRawBufferPointer($0)) }
        put(0)
    }
}
