import BluetoothATT
import BluetoothBase

/// The result of discovering a whole database: flat lists, each in handle order.
///
/// The handles show which attributes belong together. A binary search finds them, so the lists need no references to
/// each other.
public struct DiscoveredDatabase: Hashable, Sendable {
    /// Primary services, and the secondary services that another service includes.
    public var services: [DiscoveredService]
    /// The includes of all services. Empty if includes were not requested.
    public var includes: [DiscoveredInclude]
    /// The characteristics of all services, in the order of their declaration handles.
    public var characteristics: [DiscoveredCharacteristic]
    /// The descriptors of all characteristics, in the order of their handles.
    public var descriptors: [DiscoveredDescriptor]

    /// Creates a database from its lists. Each must be in the order of handles, which is not checked.
    @inlinable
    public init(
        services: [DiscoveredService] = [], includes: [DiscoveredInclude] = [],
        characteristics: [DiscoveredCharacteristic] = [], descriptors: [DiscoveredDescriptor] = []
    ) {
        self.services = services
        self.includes = includes
        self.characteristics = characteristics
        self.descriptors = descriptors
    }

    /// The services that `service` includes.
    public func includes(of service: DiscoveredService) -> ArraySlice<DiscoveredInclude> {
        includes.within(service.startHandle, service.endHandle, by: \.declarationHandle)
    }

    /// The characteristics of `service`.
    public func characteristics(of service: DiscoveredService) -> ArraySlice<DiscoveredCharacteristic> {
        characteristics.within(service.startHandle, service.endHandle, by: \.declarationHandle)
    }

    /// The descriptors of `characteristic`.
    public func descriptors(of characteristic: DiscoveredCharacteristic) -> ArraySlice<DiscoveredDescriptor> {
        descriptors.within(characteristic.declarationHandle, characteristic.endHandle, by: \.handle)
    }
}

extension Array {
    /// The elements with handles from `first` to `last`. The array must be sorted by handle.
    func within(
        _ first: AttributeHandle, _ last: AttributeHandle, by handle: (Element) -> AttributeHandle
    ) -> ArraySlice<Element> {
        let lower = partitioningIndex { handle($0) >= first }
        let upper = partitioningIndex { handle($0) > last }
        return self[lower..<Swift.max(lower, upper)]
    }

    /// The first index whose element satisfies `belongs`. All later elements must satisfy it as well.
    private func partitioningIndex(where belongs: (Element) -> Bool) -> Int {
        var lower = 0, upper = count
        while lower < upper {
            let middle = (lower + upper) / 2
            if belongs(self[middle]) { upper = middle } else { lower = middle + 1 }
        }
        return lower
    }
}
