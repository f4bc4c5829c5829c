import BluetoothBase
import BluetoothCrypto
import BluetoothLE
import BluetoothValues
import Foundation
import FuzzDriver
import GatewayPipeline

private let cipherKey = [UInt8]([
    0x23, 0x1D, 0x39, 0xC1, 0xD7, 0xCC, 0x1A, 0xB1, 0xAE, 0xE2, 0x24, 0xCD, 0x09, 0x6D, 0xB9, 0x32,
])
private let devices: [DeviceAddress] = (0..<6).map {
    DeviceAddress(0x5448_E68F_8000 + UInt64($0), kind: $0 < 4 ? .public : .random)
}

/// Devices that advertise anything, some of them encrypted with a key that the gateway has. Every publication must be
/// valid: its topic has no wildcards, and its payload is JSON. The gateway remembers no more devices than configured.
func fuzzAdvertisement(_ script: inout Script) throws {
    let name = PresetName.allCases[script.choice(of: PresetName.allCases.count)]
    var settings = PipelineSettings()
    settings.comparison = name.comparison
    settings.tellsUndecoded = name.tellsUndecoded
    settings.capacity = 1 + script.choice(of: 4)
    settings.averaging = script.byte() & 1 == 1 ? .seconds(30) : nil
    settings.keys = Dictionary(devices.prefix(2).map { ($0, cipherKey) }) { first, _ in first }
    (settings.deviceRate, settings.deviceBurst) = (1, 1 + script.choice(of: 4))
    var pipeline = Pipeline(settings)
    var preset = name.preset(Topics(gateway: "attic"), expiry: settings.expiry, capacity: settings.capacity)
    var now = Instant(nanoseconds: 0), time = WallTime(milliseconds: 1_700_000_000_000)

    for _ in 0..<Script.limit where !script.isEmpty {
        let step = script.byte()
        let wait = UInt64(script.byte())
        now = Instant(nanoseconds: now.nanoseconds + wait * wait * 10_000_000)
        time.milliseconds += Int64(script.byte()) * 1000 - 100_000
        var reports = pipeline.advance(to: now, at: time)
        if step & 7 == 7 {
            let fields = AdvertisedFormats.value(of: script.chunk(), in: BTHome.container)?.fields ?? []
            reports += pipeline.receive(fields, of: devices[Int(step >> 3) % devices.count], at: now, time)
        } else {
            let device = devices[Int(step >> 3) % devices.count]
            var data = script.chunk()
            if step & 7 == 6 { data = try encrypted(data, device, counter: UInt32(script.byte())) }
            let reception = Reception(
                adapter: "hci\(step & 1)", address: device, rssi: step & 2 == 0 ? -60 : nil, isConnectable: true,
                advertisingData: data, scanResponseData: step & 7 == 5 ? script.chunk() : [], instant: now)
            reports += pipeline.receive(reception, at: time)
        }
        try require(pipeline.deviceCount <= settings.capacity, "\(pipeline.deviceCount) devices are remembered")
        for report in reports {
            for publication in preset.publications(for: report) { try check(publication) }
        }
    }
    for report in pipeline.finish(at: time) {
        for publication in preset.publications(for: report) { try check(publication) }
    }
    try require(pipeline.deviceCount == 0, "devices are left at the end")
}

/// Service data of BTHome, encrypted if it is any, which whoever has the key reads as it was.
private func encrypted(_ data: [UInt8], _ device: DeviceAddress, counter: UInt32) throws -> [UInt8] {
    guard let value = try? BTHome(decoding: data.span) else { return data }
    let sealed = EncryptedBTHome(value, key: cipherKey, address: device, counter: counter, with: AESCCM())
    try require(
        sealed.decrypted(key: cipherKey, address: device, with: AESCCM())?.fields == value.fields,
        "what was encrypted is something else")
    let octets = sealed.encoded
    guard octets.count <= 251 else { return data }
    return [UInt8(octets.count + 3), 0x16, 0xD2, 0xFC] + octets
}

private func check(_ publication: Publication) throws {
    let topic = publication.topic
    try require((1...256).contains(topic.utf8.count), "a topic of \(topic.utf8.count) octets")
    try require(
        topic.unicodeScalars.allSatisfy { $0.isASCII && $0.value > 0x20 && $0 != "+" && $0 != "#" },
        "the topic \(topic)")
    let text = String(decoding: publication.payload, as: UTF8.self)
    try require(Array(text.utf8) == publication.payload, "a payload that is no text at \(topic)")
    let value = try? JSONSerialization.jsonObject(with: Data(publication.payload), options: .fragmentsAllowed)
    try require(value != nil, "no JSON at \(topic): \(text)")
    let isPlain = publication.line.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    try require(isPlain, "a line that moves a terminal's cursor: \(topic)")
}

let advertisementSeeds: [[UInt8]] = {
    func data(_ type: UInt8, _ digits: String) -> [UInt8] {
        let octets = [UInt8](hexadecimal: digits) ?? []
        return [UInt8(octets.count + 1), type] + octets
    }
    let packets: [(step: UInt8, data: [UInt8])] = [
        (0, data(0x16, "D2FC4002CA0903BF13")), (1, data(0x16, "D2FC44001A3A013A05")),
        (2, data(0x16, "D2FC41E445F3C962001122336C7C4519")),
        (0, data(0xFF, "4C000215FB0B57A2822844CD913A94A122BA120600010002D1")),
        (0, data(0x16, "AAFE00E80102030405060708090A0102030405060000")),
        (0, data(0x16, "AAFE10EE036578616D706C6500")), (0, data(0x16, "AAFE20000BB81A8000000001000000FF")),
        (0, data(0xFF, "990403291A1ECE1EFC18F94202CA0B53")),
        (0, data(0xFF, "99040512FC5394C37C0004FFFC040CAC364200CDCBB8334C884F")),
        (0, data(0x16, "6FFD0102030405060708090A0B0C0D0E0F10AABBCCDD")), (5, data(0x09, "1B5B324A")),
        (6, [0x40, 0x02, 0xCA, 0x09, 0x3A, 0x01]), (7, [0x40, 0x01, 0x61]),
    ]
    let script = packets.flatMap { [$0.step, 40, 100, UInt8($0.data.count)] + $0.data + ($0.step == 6 ? [7] : []) }
    return (0..<3).flatMap { preset in [0, 1].map { [preset, 3, $0, 3] + script } }
}()
