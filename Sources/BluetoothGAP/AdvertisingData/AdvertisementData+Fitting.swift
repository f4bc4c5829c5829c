import BluetoothBase

/// One advertisement for several who want something advertised, and of what does not fit as much as does.
extension AdvertisementData {
    /// Adds what another advertisement has and this one has not.
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

    /// As much of it as fits into an advertisement and its scan response: the name may lose its end, then services go,
    /// from the last on.
    package var cutToFit: AdvertisementData {
        var cut = self
        cut.localName = localName?.cut(to: Self.longestName)
        cut.serviceUUIDs = Array(serviceUUIDs.prefix(Self.mostServices))
        while !cut.serviceUUIDs.isEmpty, !cut.fitsWhole { cut.serviceUUIDs.removeLast() }
        cut.isServiceListIncomplete = isServiceListIncomplete || cut.serviceUUIDs.count < serviceUUIDs.count
        return cut
    }

    /// Whether nothing of it is lost in an advertisement and its scan response.
    private var fitsWhole: Bool {
        guard let payload = try? AdvertisingPayload(self) else { return false }
        let (data, response) = (payload.advertisingData, payload.scanResponseData)
        return AdvertisementData(advertisingData: data.span, scanResponseData: response.span).localName == localName
    }

    /// An AD structure of 31 octets less its length and type.
    private static let longestName = 29
    /// No more than this fit into an advertisement and its scan response, however short.
    private static let mostServices = 31
}

extension AdvertisementData.LocalName {
    /// The name, ended between two characters so that it takes at most so many octets; nil where not even one fits.
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
