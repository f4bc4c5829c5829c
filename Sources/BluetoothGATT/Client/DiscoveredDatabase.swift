import BluetoothATT
import BluetoothBase

/// All that a discovery of the whole database found: flat lists, each in the order of handles.
///
/// The handles show which attributes belong together: a binary search finds them, and the lists need no references to
/// each other.
public struct DiscoveredDatabase: Hashable, Sendable {
    /// Primary services, and the secondary ones that some service includes.
    public var services: [DiscoveredService]
    /// Empty if includes were not requested.
    public var includes: [DiscoveredInclude]
    public var characteristics: [DiscoveredCharacteristic]
    public var descriptors: [DiscoveredDescriptor]

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
    /// The elements whose handles lie from `first` to `last`, in an array ordered by them.
    func within(
        _ first: AttributeHandle, _ last: AttributeHandle, by handle: (Element) -> AttributeHandle
    ) -> ArraySlice<Element> {
        let lower = partitioningIndex { handle($0) >= first }
        let upper = partitioningIndex { handle($0) > last }
        return self[lower..<Swift.max(lower, upper)]
    }

    /// The first index with an element that satisfies `belongs`, if all later ones do as well.
    private func partitioningIndex(where belongs: (Element) -> Bool) -> Int {
        var lower = 0, upper = count
        while lower < upper {
            let middle = (lower + upper) / 2
            if belongs(self[middle]) { upper = middle } else { lower = middle + 1 }
        }
        return lower
    }
}
