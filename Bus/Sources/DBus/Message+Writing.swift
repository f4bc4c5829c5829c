import CSystemd

extension Message: ValueWriter {
    /// Appends values.
    ///
    /// - Throws: `.invalidMessage` if a value cannot be sent. The message must then be dropped.
    package func append(_ values: [DBusValue]) throws(BusFailure) {
        for value in values { try append(value) }
    }

    /// Appends a value.
    package func append(_ value: DBusValue) throws(BusFailure) {
        switch value {
        case .byte(let number): try appendBasic("y", number)
        case .boolean(let flag): try appendBasic("b", Int32(flag ? 1 : 0))
        case .int16(let number): try appendBasic("n", number)
        case .uint16(let number): try appendBasic("q", number)
        case .int32(let number): try appendBasic("i", number)
        case .uint32(let number): try appendBasic("u", number)
        case .int64(let number): try appendBasic("x", number)
        case .uint64(let number): try appendBasic("t", number)
        case .double(let number): try appendBasic("d", number)
        case .fileDescriptor(let number): try appendBasic("h", number)
        case .string(let text): try appendText("s", BusText.valid(text))
        case .objectPath(let path): try appendText("o", path.description)
        case .signature(let signature): try appendText("g", signature)
        case .bytes(let octets): try append(octets: octets)
        case .array, .dictionary, .structure, .variant: try append(members: value)
        }
    }

    /// Appends a name that this program has chosen, as a string.
    package func append(name: String) throws(BusFailure) { try appendText("s", name) }

    /// Appends a number.
    package func append(_ number: UInt16) throws(BusFailure) { try appendBasic("q", number) }

    /// Appends `ay`.
    package func append(octets: [UInt8]) throws(BusFailure) {
        let result = octets.withUnsafeBytes {
            sd_bus_message_append_array(pointer, Self.code("y"), $0.baseAddress, $0.count)
        }
        try check(result)
    }

    /// Opens a container: `a`, `e`, `r` or `v`.
    package func open(_ type: Unicode.Scalar, _ contents: String) throws(BusFailure) {
        try check(contents.withCString { sd_bus_message_open_container(pointer, Self.code(type), $0) })
    }

    package func close() throws(BusFailure) { try check(sd_bus_message_close_container(pointer)) }

    private func appendBasic(_ type: Unicode.Scalar, _ number: some BitwiseCopyable) throws(BusFailure) {
        let result = withUnsafeBytes(of: number) {
            sd_bus_message_append_basic(pointer, Self.code(type), $0.baseAddress)
        }
        try check(result)
    }

    private func appendText(_ type: Unicode.Scalar, _ text: String) throws(BusFailure) {
        try check(text.withCString { sd_bus_message_append_basic(pointer, Self.code(type), $0) })
    }

    private func check(_ result: Int32) throws(BusFailure) {
        if result < 0 { throw .invalidMessage(errno: -result) }
    }
}
