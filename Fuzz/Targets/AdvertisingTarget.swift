import BluetoothBase
import BluetoothGAP

/// Arbitrary advertising data.
func fuzzAdvertising(_ bytes: Span<UInt8>) throws(FuzzViolation) {
    var structures = ADStructures(bytes)
    var octets = 0
    while let structure = structures.next() { octets += 2 + structure.data.count }
    try require(octets <= bytes.count, "\(octets) octets in \(bytes.count)")

    let advertisement = AdvertisementData(bytes)
    try checkView(ADView(bytes), advertisement)
    try checkPayload(advertisement)

    // Split in two between structures, it decodes to the same.
    let halves = AdvertisementData(advertisingData: bytes.extracting(0..<0), scanResponseData: bytes)
    try require(halves == advertisement, "a scan response says something else")
}

/// Reading single fields gives the same as decoding everything.
private func checkView(_ view: borrowing ADView, _ advertisement: AdvertisementData) throws(FuzzViolation) {
    try require(view.flags == advertisement.flags, "other flags")
    try require(view.txPowerLevel == advertisement.txPowerLevel, "another transmit power")
    var name: String?
    if let bytes = view.localName { name = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } }
    try require(name == advertisement.localName?.text, "another name")
    for uuid in advertisement.serviceUUIDs {
        try require(view.contains(serviceUUID: uuid), "\(uuid) is not found")
    }
    if let first = advertisement.manufacturerData.first {
        guard let data = view.manufacturerData(companyID: first.companyID) else {
            throw FuzzViolation(description: "no manufacturer data")
        }
        try require(Array(data) == first.data, "other manufacturer data")
    }
    if let first = advertisement.serviceData.first {
        guard let data = view.serviceData(first.uuid) else { throw FuzzViolation(description: "no service data") }
        try require(Array(data) == first.data, "other service data")
    }
}

/// Whatever fits into a payload can be decoded from it again.
private func checkPayload(_ advertisement: AdvertisementData) throws(FuzzViolation) {
    for limits in [AdvertisingPayload.Limits.legacy, .init(advertisingData: 1650, scanResponseData: 0)] {
        guard let payload = try? AdvertisingPayload(advertisement, limits: limits) else { continue }
        try require(payload.advertisingData.count <= limits.advertisingData, "too much advertising data")
        try require(payload.scanResponseData.count <= limits.scanResponseData, "too much scan response data")
        let again = AdvertisementData(
            advertisingData: payload.advertisingData.span, scanResponseData: payload.scanResponseData.span)
        try require(again.flags == advertisement.flags, "other flags")
        try require(again.txPowerLevel == advertisement.txPowerLevel, "another transmit power")
        try require(again.appearance == advertisement.appearance, "another appearance")
        try require(Set(again.serviceUUIDs) == Set(advertisement.serviceUUIDs), "other services")
        try require(
            Set(again.solicitedServiceUUIDs) == Set(advertisement.solicitedServiceUUIDs), "other solicited services")
        let isSplit = !payload.scanResponseData.isEmpty
        try require(isSplit || again.manufacturerData == advertisement.manufacturerData, "other manufacturer data")
        try require(isSplit || again.serviceData == advertisement.serviceData, "other service data")
        try require(again.other.count == advertisement.other.count, "other structures")
        let name = again.localName?.text ?? ""
        try require(advertisement.localName?.text.hasPrefix(name) ?? name.isEmpty, "another name")
    }
}
