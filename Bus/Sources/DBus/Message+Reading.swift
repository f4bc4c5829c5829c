import CSystemd

extension Message {
    /// The maximum number of values in a message that is read. A message of the maximum length could otherwise take
    /// many times its length in memory.
    package static let valueLimit = 40_000

    /// Reads all values.
    ///
    /// - Throws: `LimitsExceeded` if there are too many values; `InvalidArgs` if the message is malformed.
    package func readAll() throws(BusError) -> [DBusValue] {
        guard sd_bus_message_rewind(pointer, 1) >= 0 else { throw Self.malformed }
        var budget = Self.valueLimit
        return try readRest(&budget)
    }

    private static let malformed = BusError.invalidArgs("The message is malformed")

    private func readRest(_ budget: inout Int) throws(BusError) -> [DBusValue] {
        var values: [DBusValue] = []
        while let (type, contents) = try nextType() {
            values.append(try read(type, contents, &budget))
        }
        return values
    }

    /// The type of the next value in the current container, and the signature of its contents; nil at the end.
    private func nextType() throws(BusError) -> (type: UInt8, contents: String)? {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        let result = sd_bus_message_peek_type(pointer, &type, &contents)
        guard result >= 0 else { throw Self.malformed }
        guard result > 0, type != 0 else { return nil }
        return (UInt8(bitPattern: type), contents.map { String(cString: $0) } ?? "")
    }

    private func read(_ type: UInt8, _ contents: String, _ budget: inout Int) throws(BusError) -> DBusValue {
        budget -= 1
        guard budget >= 0 else { throw .limitsExceeded("The message has more than \(Self.valueLimit) values") }
        switch Unicode.Scalar(type) {
        case "y": return .byte(try readBasic(type, 0))
        case "b": return .boolean(try readBasic(type, Int32(0)) != 0)
        case "n": return .int16(try readBasic(type, 0))
        case "q": return .uint16(try readBasic(type, 0))
        case "i": return .int32(try readBasic(type, 0))
        case "u": return .uint32(try readBasic(type, 0))
        case "x": return .int64(try readBasic(type, 0))
        case "t": return .uint64(try readBasic(type, 0))
        case "d": return .double(try readBasic(type, 0))
        case "h": return .fileDescriptor(try readBasic(type, -1))
        case "s": return .string(try readText(type))
        case "g": return .signature(try readText(type))
        case "o":
            guard let path = ObjectPath(try readText(type)) else { throw Self.malformed }
            return .objectPath(path)
        case "a" where contents == "y": return .bytes(try readBytes())
        case "a" where contents.hasPrefix("{"): return try readDictionary(contents, &budget)
        case "a": return .array(of: contents, try readContainer(type, contents, &budget))
        case "r": return .structure(try readContainer(type, contents, &budget))
        case "v":
            guard let value = try readContainer(type, contents, &budget).first else { throw Self.malformed }
            return .variant(value)
        default: throw Self.malformed
        }
    }

    private func readContainer(
        _ type: UInt8, _ contents: String, _ budget: inout Int
    ) throws(BusError) -> [DBusValue] {
        guard sd_bus_message_enter_container(pointer, CChar(bitPattern: type), contents) > 0 else {
            throw Self.malformed
        }
        let values = try readRest(&budget)
        guard sd_bus_message_exit_container(pointer) >= 0 else { throw Self.malformed }
        return values
    }

    private func readDictionary(_ contents: String, _ budget: inout Int) throws(BusError) -> DBusValue {
        // The key of a dictionary is a basic type, whose signature is one character.
        let inner = contents.dropFirst().dropLast()
        guard let key = inner.first else { throw Self.malformed }
        guard sd_bus_message_enter_container(pointer, Self.code("a"), contents) > 0 else { throw Self.malformed }
        var entries: [DBusValue.Entry] = []
        while try nextType() != nil {
            let pair = try readContainer(UInt8(ascii: "e"), String(inner), &budget)
            guard pair.count == 2 else { throw Self.malformed }
            entries.append(.init(pair[0], pair[1]))
        }
        guard sd_bus_message_exit_container(pointer) >= 0 else { throw Self.malformed }
        return .dictionary(key: String(key), value: String(inner.dropFirst()), entries)
    }

    private func readBasic<Number: BitwiseCopyable>(_ type: UInt8, _ zero: Number) throws(BusError) -> Number {
        var number = zero
        let result = withUnsafeMutableBytes(of: &number) {
            sd_bus_message_read_basic(pointer, CChar(bitPattern: type), $0.baseAddress)
        }
        guard result > 0 else { throw Self.malformed }
        return number
    }

    private func readText(_ type: UInt8) throws(BusError) -> String {
        var text: UnsafePointer<CChar>?
        guard sd_bus_message_read_basic(pointer, CChar(bitPattern: type), &text) > 0, let text else {
            throw Self.malformed
        }
        return String(cString: text)
    }

    private func readBytes() throws(BusError) -> [UInt8] {
        var start: UnsafeRawPointer?
        var count = 0
        guard sd_bus_message_read_array(pointer, Self.code("y"), &start, &count) >= 0 else { throw Self.malformed }
        return [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }
}
