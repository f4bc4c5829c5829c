import BluetoothBase

/// Combines the advertisements of several users into one, and truncates the result to fit.
extension AdvertisementData {
    /// Adds the content of another advertisement that this one does not contain yet.
    package mutating func merge(_ other: AdvertisementData) {
        localName = localName ?? other.localName
        appearance = appearance ?? other.appearance
        txPowerLevel = txPowerLevel ?? other.txPowerLevel
        flags = flags ?? other.flags
        serviceUUIDs += other.serviceUUIDs.filter { !serviceUUIDs.contains($0) }
        isServiceListIncomplete = isServiceListIncomplete || other.isServiceListIncomplete
        solicitedServiceUUIDs += other.solicitedServiceUUIDs.filter { !solicitedServiceUUIDs.contains($0) }
        manufacturerData += other.manufacturerData
        serviceData += other.serviceData
    }

    /// The advertisement, truncated to fit into advertising data and scan response data. The name is shortened first;
    /// then services are removed, starting with the last.
    package var cutToFit: AdvertisementData {
        var cut = self
        cut.localName = localName?.cut(to: Self.longestName)
        cut.serviceUUIDs = Array(serviceUUIDs.prefix(Self.mostServices))
        while !cut.serviceUUIDs.isEmpty, !cut.fitsWhole { cut.serviceUUIDs.removeLast() }
        cut.isServiceListIncomplete = isServiceListIncomplete || cut.serviceUUIDs.count < serviceUUIDs.count
        return cut
    }

    /// Whether the advertisement fits completely into advertising data and scan response data.
    private var fitsWhole: Bool {
        guard let payload = try? AdvertisingPayload(self) else { return false }
        let (data, response) = (payload.advertisingData, payload.scanResponseData)
        return AdvertisementData(advertisingData: data.span, scanResponseData: response.span).localName == localName
    }

    /// The longest name in octets: an AD structure of 31 octets, minus its length and type.
    private static let longestName = 29
    /// An upper bound on the number of services that fit into advertising data and scan response data, even with the
    /// shortest UUIDs.
    private static let mostServices = 31
}

extension AdvertisementData.LocalName {
    /// Returns the name, truncated between two characters to at most `length` octets. Returns nil if not even one
    /// character fits.
    fileprivate func cut(to length: Int) -> Self? {
        let text: String
        switch self {
        case .complete(let name), .shortened(let name): text = name
        }
        guard text.utf8.count > length else { return text.isEmpty ? nil : self }
        var short = ""
        for character in text {
            guard short.utf8.count + character.utf8.count <= length else { break }
            short.append(character)
        }
        return short.isEmpty ? nil : .shortened(short)
    }
}
