import BluetoothAdapter
import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothValues

/// Reading, writing and subscribing with typed values.
///
/// The calls that take only a type look up the characteristic first, which takes some round trips. To use it more than
/// once, or to choose among several of its kind, keep the result of `characteristic(_:in:)` or of discovery.
extension Connection {
    /// The first characteristic that carries values of a type.
    ///
    /// - Parameter service: the service to look in; nil for all of them.
    /// - Throws: `.notFound` with the UUID that is missing.
    public func characteristic<Value: CharacteristicValue>(
        _ type: Value.Type, in service: BluetoothUUID? = nil
    ) async throws(BluetoothError) -> DiscoveredCharacteristic {
        if let service { return try await characteristic(Value.uuid, in: service) }
        let operation = GATTClientOperation.discoverCharacteristics(in: 1...0xFFFF, uuid: Value.uuid)
        guard case .characteristics(let characteristics) = try await perform(operation),
            let characteristic = characteristics.first
        else { throw .notFound(Value.uuid) }
        return characteristic
    }

    /// Reads a value.
    ///
    /// - Throws: `.malformedValue` if the peer's value does not have the layout of its type.
    public func read<Value: CharacteristicValue>(
        _ type: Value.Type, from characteristic: DiscoveredCharacteristic
    ) async throws(BluetoothError) -> Value {
        try Value(received: try await read(characteristic))
    }

    /// Reads a value of the first characteristic that carries its type.
    ///
    /// - Parameter service: the service to look in; nil for all of them.
    /// - Throws: `.notFound`, and `.malformedValue` if the peer's value does not have the layout of its type.
    public func read<Value: CharacteristicValue>(
        _ type: Value.Type, in service: BluetoothUUID? = nil
    ) async throws(BluetoothError) -> Value {
        try await read(type, from: try await characteristic(type, in: service))
    }

    /// Writes a value and waits for the peer's answer.
    public func write(
        _ value: some CharacteristicValue, to characteristic: DiscoveredCharacteristic
    ) async throws(BluetoothError) {
        try await write(value.encoded, to: characteristic)
    }

    /// Writes a value to the first characteristic that carries its type, and waits for the peer's answer.
    ///
    /// - Parameter service: the service to look in; nil for all of them.
    /// - Throws: `.notFound`.
    public func write<Value: CharacteristicValue>(
        _ value: Value, in service: BluetoothUUID? = nil
    ) async throws(BluetoothError) {
        try await write(value, to: try await characteristic(Value.self, in: service))
    }

    /// Subscribes to a characteristic, as `notifications(of:)` does, and decodes its values.
    public func notifications<Value: CharacteristicValue>(
        of characteristic: DiscoveredCharacteristic, as type: Value.Type
    ) async throws(BluetoothError) -> ValueSequence<Value> {
        ValueSequence(values: try await notifications(of: characteristic))
    }

    /// Subscribes to the first characteristic that carries values of a type, and decodes them.
    ///
    /// - Parameter service: the service to look in; nil for all of them.
    /// - Throws: `.notFound`, and what `notifications(of:)` does.
    public func notifications<Value: CharacteristicValue>(
        _ type: Value.Type, in service: BluetoothUUID? = nil
    ) async throws(BluetoothError) -> ValueSequence<Value> {
        try await notifications(of: try await characteristic(type, in: service), as: type)
    }
}

extension Subscriber {
    /// Sends a notification of a value to this subscriber alone, as `notify(_:)` does with bytes.
    public func notify(_ value: some CharacteristicValue) async throws(BluetoothError) {
        try await notify(value.encoded)
    }

    /// Sends an indication of a value to this subscriber alone, and waits for its confirmation.
    public func indicate(_ value: some CharacteristicValue) async throws(BluetoothError) {
        try await indicate(value.encoded)
    }
}

extension PublishedCharacteristic {
    /// Sets a value that the database keeps, as `setValue(_:)` does with bytes. Subscribers are not notified of it.
    public func setValue(_ value: some CharacteristicValue) async throws(BluetoothError) {
        try await setValue(value.encoded)
    }
}

extension CharacteristicValue {
    /// Decodes what a peer sent.
    init(received value: [UInt8]) throws(BluetoothError) {
        do throws(DecodingFailure) {
            try self.init(decoding: value.span)
        } catch {
            throw .malformedValue(Self.uuid, error)
        }
    }
}
