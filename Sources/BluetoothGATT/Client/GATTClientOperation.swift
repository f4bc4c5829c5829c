import BluetoothATT
import BluetoothBase

/// An operation of a `GATTClient`. Each case states the `GATTClientResult` that it gives.
@nonexhaustive
public enum GATTClientOperation: Equatable, Sendable {
    /// Exchanges the maximum PDU length with the server, in octets; gives `mtu`. If the MTU cannot be exchanged on this
    /// bearer, or was already exchanged, the operation completes without a request (Core 5.4, Vol 3, Part G, 4.3.1).
    case exchangeMTU(clientRxMTU: UInt16)

    /// Finds all primary services, or those of one UUID; gives `services` (4.4.1, 4.4.2).
    case discoverPrimaryServices(uuid: BluetoothUUID? = nil)
    /// Finds all secondary services, whether other services include them or not; gives `services`. Servers may refuse
    /// this (Vol 3, Part G, 2.5.3).
    case discoverSecondaryServices
    /// Finds the services that a service includes; gives `includes` (4.5.1).
    case discoverIncludedServices(in: ClosedRange<AttributeHandle>)
    /// Finds the characteristics of a service, or those of one UUID; gives `characteristics` (4.6.1, 4.6.2).
    case discoverCharacteristics(in: ClosedRange<AttributeHandle>, uuid: BluetoothUUID? = nil)
    /// Finds the descriptors in a range of handles, usually the one after a characteristic's value; gives `descriptors`
    /// (4.7.1).
    case discoverDescriptors(in: ClosedRange<AttributeHandle>)
    /// Finds everything in as few round trips as possible; gives `database`.
    case discoverAll(includes: Bool)

    /// Reads a value, or as much of it as fits in one response; gives `value` (4.8.1).
    case read(AttributeHandle)
    /// Reads a value from `offset` to its end; gives `value` (4.8.3).
    case readLong(AttributeHandle, offset: UInt16 = 0)
    /// Reads all values of a type; gives `values`. Each is truncated to ATT_MTU - 4 octets, and to 253 octets (4.8.2).
    case readByUUID(BluetoothUUID, in: ClosedRange<AttributeHandle> = 0x0001...0xFFFF)
    /// Reads two or more values, all but the last of known length; gives `value`, which concatenates them (4.8.4).
    case readMultiple([AttributeHandle])
    /// Reads two or more values; gives `values`, those that fit completely in one response (4.8.5).
    case readMultipleVariable([AttributeHandle])

    /// Writes a value of up to ATT_MTU - 3 octets; gives `written` (4.9.3).
    case write(AttributeHandle, [UInt8])
    /// Writes a value in parts, from `offset` on; gives `written` (4.9.4). The value ends at octet 512 at the latest.
    case writeLong(AttributeHandle, [UInt8], offset: UInt16 = 0)
    /// Writes several values together, each from `offset` on, after the server has echoed each of them correctly; gives
    /// `written` (4.9.5). A value ends at octet 512 at the latest.
    case writeReliably([AttributeValue], offset: UInt16 = 0)
    /// Subscribes to a characteristic, or unsubscribes, by writing its Client Characteristic Configuration descriptor;
    /// gives `written` (4.10, 4.11).
    case configure(descriptor: AttributeHandle, GATTClientConfiguration)
}

/// The result of a `GATTClient` operation.
@nonexhaustive
public enum GATTClientResult: Equatable, Sendable {
    /// The ATT_MTU that is now in effect, in octets.
    case mtu(Int)
    case services([DiscoveredService])
    case includes([DiscoveredInclude])
    case characteristics([DiscoveredCharacteristic])
    case descriptors([DiscoveredDescriptor])
    case database(DiscoveredDatabase)
    case value([UInt8])
    case values([AttributeValue])
    case written
}

/// The end of an operation. Every operation ends exactly once.
public enum GATTClientEvent: Equatable, Sendable {
    case completed(GATTClient.OperationID, GATTClientResult)
    case failed(GATTClient.OperationID, GATTClientError)
}
