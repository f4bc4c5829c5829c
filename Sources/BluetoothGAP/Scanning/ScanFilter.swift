import BluetoothBase

/// Selects the devices that a scan reports. A device must meet every condition that is set. A filter without conditions
/// matches all devices.
///
/// Matching reads the bytes in place and does not allocate.
public struct ScanFilter: Equatable, Sendable {
    /// A condition on a device's name. Names are compared octet by octet.
    public enum Name: Equatable, Sendable {
        case exact(String)
        case prefix(String)
    }

    /// The device lists at least one of these services. An empty list sets no condition.
    public var services: [BluetoothUUID]
    /// The device has this name, or a name with this prefix.
    public var name: Name?
    /// The device is one of these peers, whatever address it uses now. An empty list sets no condition.
    public var peers: [PeerID]
    /// The device has one of these addresses. An empty list sets no condition. Addresses match whether or not the
    /// controller has resolved them.
    public var addresses: [DeviceAddress]
    /// The signal strength is in this range, in dBm. If it was not measured, the device does not match.
    public var rssi: ClosedRange<Int8>?
    /// The device advertises manufacturer data with this company identifier.
    public var companyID: UInt16?
    /// The device accepts connections.
    public var isConnectableOnly: Bool
    /// The device is in limited discoverable mode, as required for limited discovery (Core 5.4, Vol 3, Part C, 9.2.5).
    public var isLimitedDiscoverableOnly: Bool
    /// The device is in general or limited discoverable mode, as required for general discovery (Core 5.4, Vol 3, Part
    /// C, 9.2.6).
    public var isDiscoverableOnly: Bool

    /// Creates a filter. By default, no condition is set, so every device matches.
    public init(
        services: [BluetoothUUID] = [], name: Name? = nil, peers: [PeerID] = [],
        addresses: [DeviceAddress] = [], rssi: ClosedRange<Int8>? = nil, companyID: UInt16? = nil,
        isConnectableOnly: Bool = false, isLimitedDiscoverableOnly: Bool = false,
        isDiscoverableOnly: Bool = false
    ) {
        self.services = services
        self.name = name
        self.peers = peers
        self.addresses = addresses
        self.rssi = rssi
        self.companyID = companyID
        self.isConnectableOnly = isConnectableOnly
        self.isLimitedDiscoverableOnly = isLimitedDiscoverableOnly
        self.isDiscoverableOnly = isDiscoverableOnly
    }

    /// Returns whether a device meets every condition.
    public func matches(_ sighting: borrowing Sighting) -> Bool {
        // The cheapest conditions come first.
        if isConnectableOnly, !sighting.isConnectable { return false }
        if let rssi {
            guard let measured = sighting.rssi, rssi.contains(measured) else { return false }
        }
        if !peers.isEmpty, !peers.contains(sighting.peer) { return false }
        if !addresses.isEmpty, !matchesAddress(sighting.address), !matchesAddress(sighting.peer.firstAddress) {
            return false
        }
        let advertising = ADView(sighting.advertisingData.span)
        let response = ADView(sighting.scanResponseData.span)
        if isLimitedDiscoverableOnly, advertising.flags?.contains(.limitedDiscoverable) != true { return false }
        if isDiscoverableOnly,
            advertising.flags?.isDisjoint(with: [.limitedDiscoverable, .generalDiscoverable]) != false
        {
            return false
        }
        if let companyID, advertising.manufacturerData(companyID: companyID) == nil,
            response.manufacturerData(companyID: companyID) == nil
        {
            return false
        }
        if !services.isEmpty, !matchesService(advertising), !matchesService(response) { return false }
        guard let name else { return true }
        guard let actual = sighting.localName else { return false }
        return name.matches(actual)
    }

    private func matchesAddress(_ address: DeviceAddress) -> Bool {
        for candidate in addresses
        where candidate.value == address.value && candidate.isRandom == address.isRandom {
            return true
        }
        return false
    }

    private func matchesService(_ view: borrowing ADView) -> Bool {
        for service in services where view.contains(serviceUUID: service) { return true }
        return false
    }
}

extension ScanFilter.Name {
    fileprivate func matches(_ actual: Span<UInt8>) -> Bool {
        switch self {
        case .exact(let text): actual.isEqual(to: text.utf8Span.span)
        case .prefix(let text): actual.hasPrefix(text.utf8Span.span)
        }
    }
}

extension DeviceAddress {
    /// Whether this is a random address, which the device generated itself.
    fileprivate var isRandom: Bool { kind == .random || kind == .randomIdentity }
}
