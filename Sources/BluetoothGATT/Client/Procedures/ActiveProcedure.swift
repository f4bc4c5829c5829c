import BluetoothATT
import BluetoothBase

/// The procedure that a client is running: one of a closed set, stored inline without an allocation.
enum ActiveProcedure: Sendable {
    case none
    case mtu(MTUExchange)
    case services(ServiceDiscovery)
    case includes(IncludeDiscovery)
    case characteristics(CharacteristicDiscovery)
    case descriptors(DescriptorDiscovery)
    case database(DatabaseDiscovery)
    case read(ValueRead)
    case typedRead(TypedRead)
    case multipleRead(MultipleRead)
    case write(ValueWrite)
    case preparedWrites(PreparedWrites)

    init(_ operation: GATTClientOperation) {
        switch operation {
        case .exchangeMTU(let clientRxMTU): self = .mtu(MTUExchange(clientRxMTU: clientRxMTU))
        case .discoverPrimaryServices(let uuid): self = .services(ServiceDiscovery(uuid: uuid))
        case .discoverSecondaryServices: self = .services(ServiceDiscovery(arePrimary: false))
        case .discoverIncludedServices(let handles): self = .includes(IncludeDiscovery(in: handles))
        case .discoverCharacteristics(let handles, let uuid):
            self = .characteristics(CharacteristicDiscovery(in: handles, uuid: uuid))
        case .discoverDescriptors(let handles): self = .descriptors(DescriptorDiscovery(in: handles))
        case .discoverAll(let includes): self = .database(DatabaseDiscovery(includes: includes))
        case .read(let handle): self = .read(ValueRead(handle: handle, isLong: false))
        case .readLong(let handle, let offset):
            self = .read(ValueRead(handle: handle, isLong: true, offset: offset))
        case .readByUUID(let uuid, let handles): self = .typedRead(TypedRead(uuid, in: handles))
        case .readMultiple(let handles): self = .multipleRead(MultipleRead(handles, isVariable: false))
        case .readMultipleVariable(let handles): self = .multipleRead(MultipleRead(handles, isVariable: true))
        case .write(let handle, let value): self = .write(ValueWrite(handle: handle, value: value))
        case .writeLong(let handle, let value, let offset):
            let values = [AttributeValue(handle: handle, value: value)]
            self = .preparedWrites(PreparedWrites(values, startOffset: offset, isReliable: false))
        case .writeReliably(let values, let offset):
            self = .preparedWrites(PreparedWrites(values, startOffset: offset, isReliable: true))
        case .configure(let descriptor, let configuration):
            let value = [UInt8(truncatingIfNeeded: configuration.rawValue), UInt8(configuration.rawValue >> 8)]
            self = .write(ValueWrite(handle: descriptor, value: value))
        }
    }

    /// Moves the procedure out while it runs, so that its lists have one owner and grow in place.
    private mutating func take() -> ActiveProcedure {
        defer { self = .none }
        return self
    }

    /// Passes `input` to the procedure, which appends its next request or returns its result. After a result or an
    /// error, no procedure is active.
    mutating func step(
        _ input: consuming ProcedureInput, mtu: Int, into writer: inout ByteWriter
    ) throws(GATTClientError) -> GATTClientResult? {
        // `case nil`, because `== nil` would compare results.
        switch take() {
        case .none: return nil
        case .mtu(var procedure):
            let result = try procedure.step(input, mtu: mtu, into: &writer)
            if case nil = result { self = .mtu(procedure) }
            return result
        case .services(var procedure):
            let result = try procedure.step(input, mtu: mtu, into: &writer)
            if case nil = result { self = .services(procedure) }
            return result
        case .includes(var procedure):
            let result = try procedure.step(input, mtu: mtu, into: &writer)
            if case nil = result { self = .includes(procedure) }
            return result
        case .characteristics(var procedure):
            let result = try procedure.step(input, mtu: mtu, into: &writer)
            if case nil = result { self = .characteristics(procedure) }
            return result
        case .descriptors(var procedure):
            let result = try procedure.step(input, mtu: mtu, into: &writer)
            if case nil = result { self = .descriptors(procedure) }
            return result
        case .database(var procedure):
            let result = try procedure.step(input, mtu: mtu, into: &writer)
            if case nil = result { self = .database(procedure) }
            return result
        case .read(var procedure):
            let result = try procedure.step(input, mtu: mtu, into: &writer)
            if case nil = result { self = .read(procedure) }
            return result
        case .typedRead(var procedure):
            let result = try procedure.step(input, mtu: mtu, into: &writer)
            if case nil = result { self = .typedRead(procedure) }
            return result
        case .multipleRead(var procedure):
            let result = try procedure.step(input, mtu: mtu, into: &writer)
            if case nil = result { self = .multipleRead(procedure) }
            return result
        case .write(var procedure):
            let result = try procedure.step(input, mtu: mtu, into: &writer)
            if case nil = result { self = .write(procedure) }
            return result
        case .preparedWrites(var procedure):
            let result = try procedure.step(input, mtu: mtu, into: &writer)
            if case nil = result { self = .preparedWrites(procedure) }
            return result
        }
    }

    /// Cancels the procedure while its request is in flight.
    ///
    /// - Returns: Whether the procedure still has work to do: the MTU applies to the bearer in any case, and writes
    ///   queued at the server must be removed.
    mutating func cancel() -> Bool {
        switch take() {
        case .mtu(let procedure):
            self = .mtu(procedure)
            return true
        case .preparedWrites(var procedure):
            procedure.cancel()
            self = .preparedWrites(procedure)
            return true
        case .none, .services, .includes, .characteristics, .descriptors, .database, .read, .typedRead, .multipleRead,
            .write:
            return false
        }
    }
}
