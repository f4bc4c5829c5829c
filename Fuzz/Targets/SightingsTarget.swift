import BluetoothBase
import BluetoothGAP

/// Reports from some devices to a smaller table, and the passing of time; a simple list gives the expected contents.
func fuzzSightings(_ input: inout FuzzInput) throws(FuzzViolation) {
    let capacity = 1 + input.choice(of: 5)
    var table = SightingTable(capacity: capacity)
    /// The one seen last first.
    var model: [ModelSighting] = []
    var now = Instant.zero
    while !input.isEmpty {
        now = now.advanced(by: .seconds(1))
        let action = input.choice(of: 32)
        if action == 0 {
            let limit = Instant.zero.advanced(by: .seconds(Int64(input.byte())))
            table.removeAll(notSeenSince: limit)
            model.removeAll { $0.lastSeen < limit }
        } else if action == 1 {
            table.removeAll()
            model = []
        } else {
            try receive(&input, at: now, &table, &model, capacity)
        }
        try require(table.count == model.count && table.count <= capacity, "\(table.count) devices")
    }
    try require(table.sightings.map(\.address) == model.map(\.address), "other devices, or in another order")
    for (sighting, expected) in zip(table.sightings, model) {
        try require(sighting.advertisingData == expected.advertisingData, "other advertising data")
        try require(sighting.scanResponseData == expected.scanResponseData, "another scan response")
        try require(sighting.lastSeen == expected.lastSeen, "another time")
        _ = (sighting.name, sighting.serviceUUIDs, sighting.txPowerLevel)
    }
}

private struct ModelSighting {
    var address: DeviceAddress
    var lastSeen: Instant
    var advertisingData: [UInt8] = []
    var scanResponseData: [UInt8] = []
}

private func receive(
    _ input: inout FuzzInput, at now: Instant, _ table: inout SightingTable, _ model: inout [ModelSighting],
    _ capacity: Int
) throws(FuzzViolation) {
    let number = input.byte()
    let address = DeviceAddress(UInt64(number & 0x0F), kind: number & 0x10 == 0 ? .public : .random)
    let type = AdvertisingEventType(rawValue: input.byte())
    let data = input.chunk()
    let report = AdvertisingReport(address: address, eventType: type, rssi: Int8(bitPattern: number), data: data)
    let (slot, novelty) = table.receive(report, at: now)

    let known = model.firstIndex { $0.address == address }
    try require((novelty == .discovered) == (known == nil), "\(novelty) for a device that was, or was not, known")
    var sighting = known.map { model.remove(at: $0) } ?? ModelSighting(address: address, lastSeen: now)
    sighting.lastSeen = now
    let bytes = Array(Array(data).prefix(1650))
    if type.contains(.scanResponse) { sighting.scanResponseData = bytes } else { sighting.advertisingData = bytes }
    model.insert(sighting, at: 0)
    if model.count > capacity { model.removeLast() }

    try require(table[slot].address == address && table.slot(of: address) == slot, "another slot")
}
