import BluetoothATT
import BluetoothBase

// Writing one value (Core 5.4, Vol 3, Part F, 3.4.5).

extension GATTServer {
    /// Write (3.4.5.1).
    @inline(__always)
    mutating func write(
        _ request: WriteRequest, _ client: inout GATTServedClient, _ transaction: inout GATTServerTransaction,
        _ link: GATTLinkView, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        guard let index = database.index(of: request.handle) else {
            return refuse(.invalidHandle, .writeRequest, at: request.handle, into: &writer)
        }
        if let code = refusal(ofWriting: request.value, at: index, client) {
            return refuse(code, .writeRequest, at: request.handle, into: &writer)
        }
        if database.rows[index].storage == .dynamic {
            let token = transaction.wait(
                for: .write(request.handle), until: link.now.advanced(by: applicationTimeout))
            return .writeRequested(token, handle: request.handle, value: 3..<(3 &+ request.value.count))
        }
        WriteResponse().encode(into: &writer)
        return commit(request.value, at: index, &client)
    }

    /// Write Command (3.4.5.3): like a Write Request, but without error responses. The application cannot refuse it.
    @inline(__always)
    mutating func write(
        _ command: WriteCommand, _ client: inout GATTServedClient, _ transaction: inout GATTServerTransaction,
        _ link: GATTLinkView
    ) -> GATTServerOutcome {
        guard let index = database.index(of: command.handle) else {
            return transaction.drop(.refused(.invalidHandle))
        }
        if let code = refusal(ofWriting: command.value, at: index, client) {
            return transaction.drop(.refused(code))
        }
        return commit(command.value, at: index, &client)
    }

    /// Signed Write Command (3.4.5.4): the caller must verify the signature.
    func receive(
        _ command: SignedWriteCommand, _ client: borrowing GATTServedClient, _ transaction: inout GATTServerTransaction
    ) -> GATTServerOutcome {
        guard !client.security.isEncrypted else { return transaction.drop(.signatureUnneeded) }
        guard let index = database.index(of: command.handle) else {
            return transaction.drop(.refused(.invalidHandle))
        }
        guard database.rows[index].permissions.acceptsSignedWrites else {
            return transaction.drop(.refused(.writeNotPermitted))
        }
        if let code = refusal(ofLength: command.value.count, at: index) { return transaction.drop(.refused(code)) }
        return .signedWriteReceived(handle: command.handle, value: 3..<(3 &+ command.value.count))
    }

    // MARK: - The two halves of a write

    /// The error for a signed write of this length; nil if it is possible. Constants and per-client values cannot be
    /// written with a signature.
    func refusal(ofLength length: Int, at index: Int) -> ATTErrorCode? {
        switch database.rows[index].storage {
        case .fixedLength: length > database.values[index].count ? .invalidAttributeValueLength : nil
        case .variableLength(let maximum): length > Int(maximum) ? .invalidAttributeValueLength : nil
        case .dynamic: length > GATTAttributeValue.maximumLength ? .invalidAttributeValueLength : nil
        case .constant, .clientConfiguration, .clientSupportedFeatures: .writeNotPermitted
        }
    }

    /// The error for writing a value as a whole; nil if it may be written. Checks permissions, then the attribute's
    /// length.
    @inline(__always)
    func refusal(
        ofWriting value: Span<UInt8>, at index: Int, _ client: borrowing GATTServedClient
    ) -> ATTErrorCode? {
        if let code = self.refusal(of: .write, at: index, client) { return code }
        switch database.rows[index].storage {
        case .constant: return .writeNotPermitted
        case .fixedLength:
            return value.count > database.values[index].count ? .invalidAttributeValueLength : nil
        case .variableLength(let maximum):
            return value.count > Int(maximum) ? .invalidAttributeValueLength : nil
        case .dynamic:
            return value.count > GATTAttributeValue.maximumLength ? .invalidAttributeValueLength : nil
        case .clientConfiguration(_, let supported):
            guard value.count == 2 else { return .invalidAttributeValueLength }
            // Bits that the characteristic does not support are refused (Core Specification Supplement, Part B, 1.2).
            return GATTClientConfiguration(value).isSubset(of: supported)
                ? nil : .clientCharacteristicConfigurationImproperlyConfigured
        case .clientSupportedFeatures:
            guard value.count > 0 else { return .invalidAttributeValueLength }
            // A feature bit, once set, cannot be cleared (Part G, 7.2).
            return client.clientSupportedFeatures.isSubset(of: GATTClientSupportedFeatures(value))
                ? nil : .valueNotAllowed
        }
    }

    /// Writes a value that `refusal(ofWriting:)` allowed.
    @inline(__always)
    mutating func commit(
        _ value: Span<UInt8>, at index: Int, _ client: inout GATTServedClient
    ) -> GATTServerOutcome {
        let attribute = database.rows[index]
        switch attribute.storage {
        case .constant, .dynamic: break
        case .fixedLength: database.overwrite(at: index, with: value)
        case .variableLength: database.replace(at: index, with: value)
        case .clientConfiguration(let characteristic, _):
            let change = client.write(
                characteristic, descriptor: attribute.handle, GATTClientConfiguration(value))
            return change.old == change.new ? .none : .subscriptionChanged(change)
        case .clientSupportedFeatures:
            let old = client.clientSupportedFeatures
            client.clientSupportedFeatures = GATTClientSupportedFeatures(value)
            let new = client.clientSupportedFeatures
            return old == new ? .none : .clientSupportedFeaturesChanged(new)
        }
        return .valueWritten(handle: attribute.handle, value: 3..<(3 &+ value.count))
    }
}

extension GATTClientConfiguration {
    /// Decodes the value of a descriptor, two octets. Reserved bits are ignored (Part G, 3.3.3.3).
    fileprivate init(_ value: Span<UInt8>) {
        let octets = value.count < 2 ? 0 : UInt16(value[0]) | UInt16(value[1]) << 8
        self = Self(rawValue: octets).intersection(.known)
    }
}

extension GATTClientSupportedFeatures {
    /// Decodes the value of the characteristic. Octets after the first, and undefined bits, are ignored.
    fileprivate init(_ value: Span<UInt8>) {
        self = value.isEmpty ? [] : Self(rawValue: value[0]).intersection(.known)
    }
}
