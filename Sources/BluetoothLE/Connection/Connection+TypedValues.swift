import BluetoothAdapter
import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothValues

/// Reading, writing and subscribing with typed values.
///
/// Calls that take only a type find the characteristic first, which takes some round trips. To use a characteristic
/// more than once, or to choose among several with the same UUID, keep the result of `characteristic(_:in:)` or of a
/// discovery.
extension Connection {
    /// The first characteristic that carries values of a type.
    ///
    /// - Parameter service: the UUID of the characteristic's service. Defaults to any service.
    /// - Throws: `.notFound` with the UUID that is missing.
    public func characteristic<Value: CharacteristicValue>(
        _ type: Value.Type, in service: BluetoothUUID? = nil
    ) async throws(BluetoothError) -> DiscoveredCharacteristic {
        try await characteristic(Value.uuid, in: service)
    }

    /// Reads a value and decodes it.
    ///
    /// - Throws: `.malformedValue` if the peer's value does not have the layout of the type.
    public func read<Value: CharacteristicValue>(
        _ type: Value.Type, from characteristic: DiscoveredCharacteristic
    ) async throws(BluetoothError) -> Value {
        try Value(received: try await read(characteristic))
    }

    /// Reads the value of the first characteristic that carries values of a type.
    ///
    /// - Parameter service: the UUID of the characteristic's service. Defaults to any service.
    /// - Throws: `.notFound`, or `.malformedValue` if the peer's value does not have the layout of the type.
    public func read<Value: CharacteristicValue>(
        _ type: Value.Type, in service: BluetoothUUID? = nil
    ) async throws(BluetoothError) -> Value {
        try Value(received: try await read(Value.uuid, in: service))
    }

    /// Writes a value and waits for the peer's response.
    public func write(
        _ value: some CharacteristicValue, to characteristic: DiscoveredCharacteristic
    ) async throws(BluetoothError) {
        try await write(value.encoded, to: characteristic)
    }

    /// Writes a value to the first characteristic that carries values of its type, and waits for the peer's response.
    ///
    /// - Parameter service: the UUID of the characteristic's service. Defaults to any service.
    /// - Throws: `.notFound`.
    public func write<Value: CharacteristicValue>(
        _ value: Value, in service: BluetoothUUID? = nil
    ) async throws(BluetoothError) {
        try await write(value.encoded, to: Value.uuid, in: service)
    }

    /// Subscribes to a characteristic, as `notifications(of:)` does, and decodes its values.
    public func notifications<Value: CharacteristicValue>(
        of characteristic: DiscoveredCharacteristic, as type: Value.Type
    ) async throws(BluetoothError) -> ValueSequence<Value> {
        ValueSequence(values: try await notifications(of: characteristic))
    }

    /// Subscribes to the first characteristic that carries values of a type, and decodes them.
    ///
    /// - Parameter service: the UUID of the characteristic's service. Defaults to any service.
    /// - Throws: `.notFound`, or the errors of `notifications(of:)`.
    public func notifications<Value: CharacteristicValue>(
        _ type: Value.Type, in service: BluetoothUUID? = nil
    ) async throws(BluetoothError) -> ValueSequence<Value> {
        ValueSequence(values: try await notifications(of: Value.uuid, in: service))
    }
}

extension Subscriber {
    /// Sends a notification of a value to this subscriber only. See `notify(_:)`.
    public func notify(_ value: some CharacteristicValue) async throws(BluetoothError) {
        try await notify(value.encoded)
    }

    /// Sends an indication of a value to this subscriber only, and waits for its confirmation.
    public func indicate(_ value: some CharacteristicValue) async throws(BluetoothError) {
        try await indicate(value.encoded)
    }
}

extension PublishedCharacteristic {
    /// Sets the value that the database stores. Subscribers are not notified.
    public func setValue(_ value: some CharacteristicValue) async throws(BluetoothError) {
        try await setValue(value.encoded)
    }
}

extension CharacteristicValue {
    /// Decodes a value from a peer.
    init(received value: [UInt8]) throws(BluetoothError) {
        do throws(DecodingFailure) {
            try self.init(decoding: value.span)
        } catch {
            throw .malformedValue(Self.uuid, error)
        }
    }
}
