import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// Reading, writing and subscribing (Core 5.4, Vol 3, Part G, 4.8 to 4.12). Calls on one link are carried out one after
/// the other, in their order.
extension Connection {
    /// Reads a value, however long it is.
    public func read(_ characteristic: DiscoveredCharacteristic) async throws(BluetoothError) -> [UInt8] {
        try await read(characteristic.valueHandle)
    }

    /// Reads a descriptor, however long it is.
    public func read(_ descriptor: DiscoveredDescriptor) async throws(BluetoothError) -> [UInt8] {
        try await read(descriptor.handle)
    }

    /// Reads the value of an attribute, however long it is.
    public func read(_ handle: AttributeHandle) async throws(BluetoothError) -> [UInt8] {
        guard case .value(let value) = try await adapter.perform(.readLong(handle), on: link) else { return [] }
        return value
    }

    /// Reads every value of one type: of a characteristic whose UUID is known, without discovering it first. Each may be
    /// cut off at ATT_MTU less 4, and at 253, octets.
    public func read(_ uuid: BluetoothUUID) async throws(BluetoothError) -> [AttributeValue] {
        guard case .values(let values) = try await adapter.perform(.readByUUID(uuid), on: link) else { return [] }
        return values
    }

    /// Writes a value and waits for the peer's answer. One longer than ATT_MTU less 3 octets goes in several parts, up to
    /// 512 octets.
    public func write(
        _ value: [UInt8], to characteristic: DiscoveredCharacteristic
    ) async throws(BluetoothError) {
        try await write(value, to: characteristic.valueHandle)
    }

    /// Writes the value of an attribute, such as a descriptor, and waits for the peer's answer.
    public func write(_ value: [UInt8], to handle: AttributeHandle) async throws(BluetoothError) {
        let fits = value.count <= (try await mtu) - 3
        _ = try await adapter.perform(fits ? .write(handle, value) : .writeLong(handle, value), on: link)
    }

    /// Writes a value that the peer does not answer. Waits while too much is on its way already; then it is sent, once.
    ///
    /// - Throws: `.valueTooLong` above ATT_MTU less 3 octets.
    public func writeWithoutResponse(
        _ value: [UInt8], to characteristic: DiscoveredCharacteristic
    ) async throws(BluetoothError) {
        try await adapter.writeWithoutResponse(value, to: characteristic.valueHandle, on: link)
    }

    /// Subscribes to a characteristic: to notifications where it has them, else to indications.
    ///
    /// The receiver is in place before the peer is asked, so that no early value is lost. The sequence ends by throwing
    /// `.disconnected` when the link does, and `.overflow` where the consumer falls 4096 values behind. When the last copy of the
    /// sequence is gone, so is the subscription; `unsubscribe` waits for that.
    ///
    /// - Throws: `.notSupported` where the characteristic can do neither.
    public func notifications(
        of characteristic: DiscoveredCharacteristic
    ) async throws(BluetoothError) -> EventSequence<[UInt8]> {
        try await adapter.subscribe(to: characteristic, on: self)
    }

    /// Ends every subscription to a characteristic, and waits until the peer knows. The sequences end in good order.
    public func unsubscribe(from characteristic: DiscoveredCharacteristic) async throws(BluetoothError) {
        try await adapter.unsubscribe(from: characteristic, on: link)
    }
}
