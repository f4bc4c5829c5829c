import BluetoothBase
import BluetoothValues

/// The value of a characteristic of any type. If it decodes, it encodes to bytes with the same meaning, and to no more
/// of them, except for repaired text.
func fuzzValues(_ bytes: Span<UInt8>) throws(FuzzViolation) {
    try checkValue(HeartRateMeasurement.self, bytes)
    try checkValue(BodySensorLocation.self, bytes)
    try checkValue(BatteryLevel.self, bytes)
    try checkValue(FirmwareRevisionString.self, bytes, isText: true)
    try checkValue(SystemID.self, bytes)
    try checkValue(PnPID.self, bytes)
    try checkValue(CurrentTime.self, bytes)
    try checkValue(TemperatureMeasurement.self, bytes)
    try checkValue(TemperatureType.self, bytes)
    try checkValue(Temperature.self, bytes)
    try checkValue(WeightMeasurement.self, bytes)
    try checkValue(CSCMeasurement.self, bytes)
    try checkValue(CSCFeature.self, bytes)
    try checkValue(EncryptedDataKeyMaterial.self, bytes)
    for format in AdvertisedFormats.all { try checkAdvertised(format, bytes) }
}

/// What is advertised, in any format.
private func checkAdvertised<Value: AdvertisedValue>(_ type: Value.Type, _ bytes: Span<UInt8>) throws(FuzzViolation) {
    guard let value = try? Value(decoding: bytes) else { return }
    // An Eddystone-UID may lack two reserved octets.
    try require(value.encoded.count <= bytes.count + 2, "\(type) grows")
    guard let again = try? Value(decoding: value.encoded.span) else {
        throw FuzzViolation(description: "\(type) refuses what it has written")
    }
    try require(again == value && again.fields == value.fields, "\(type) changes")
    guard let found = AdvertisedFormats.value(of: bytes, in: Value.container) else {
        throw FuzzViolation(description: "\(type) is not found")
    }
    try require(Swift.type(of: found).container == Value.container, "\(type) is found elsewhere")
}

private func checkValue<Value: CharacteristicValue & Equatable>(
    _ type: Value.Type, _ bytes: Span<UInt8>, isText: Bool = false
) throws(FuzzViolation) {
    let value: Value
    do throws(DecodingFailure) {
        value = try Value(decoding: bytes)
    } catch {
        try require(error.offset <= bytes.count, "\(type) fails after the end")
        guard case .truncated(let missing) = error.reason else { return }
        try require(missing > 0 && error.offset == bytes.count, "\(type) lacks \(missing) octets at \(error.offset)")
        return
    }
    let encoded = value.encoded
    try require(isText || encoded.count <= bytes.count, "\(type) grows")
    guard let again = try? Value(decoding: encoded.span) else {
        throw FuzzViolation(description: "\(type) refuses what it has written")
    }
    try require(again == value, "\(type) changes")
}
