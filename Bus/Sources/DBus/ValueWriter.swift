/// Receives the values of a message, in order. `Message` and `SignalBuffer` implement it.
package protocol ValueWriter: AnyObject {
    /// Appends a value.
    func append(_ value: DBusValue) throws(BusFailure)
    /// Appends a name that this program has chosen, as a string.
    func append(name: String) throws(BusFailure)
    /// Appends a number.
    func append(_ number: UInt16) throws(BusFailure)
    /// Appends `ay`.
    func append(octets: [UInt8]) throws(BusFailure)
    /// Opens a container: `a`, `e`, `r` or `v`, with the signature of its contents.
    func open(_ type: Unicode.Scalar, _ contents: String) throws(BusFailure)
    func close() throws(BusFailure)
}

extension ValueWriter {
    /// Appends `ay` as a variant.
    package func append(variantOctets octets: [UInt8]) throws(BusFailure) {
        try open("v", "ay")
        try append(octets: octets)
        try close()
    }

    /// Appends a value that consists of others.
    func append(members value: DBusValue) throws(BusFailure) {
        switch value {
        case .array(let element, let elements):
            try open("a", element)
            for element in elements { try append(element) }
            try close()
        case .dictionary(let key, let value, let entries):
            try open("a", "{\(key)\(value)}")
            for entry in entries {
                try open("e", key + value)
                try append(entry.key)
                try append(entry.value)
                try close()
            }
            try close()
        case .structure(let members):
            try open("r", members.map(\.signature).joined())
            for member in members { try append(member) }
            try close()
        case .variant(let value):
            try open("v", value.signature)
            try append(value)
            try close()
        case .byte, .boolean, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .string, .objectPath,
            .signature, .fileDescriptor, .bytes:
            try append(value)
        }
    }
}
