import BluetoothLE
import Foundation
import FuzzDriver
import GatewayConfiguration
import GatewayPipeline
@testable import GatewayService

/// A request by way of the broker: it is one within its bounds, or there is an answer with a reason, at all times JSON
/// with the request's `id`.
func fuzzRequest(_ payload: [UInt8]) throws {
    let answer: RemoteAnswer
    var id: String?
    switch Result(catching: { () throws(RemoteRefusal) in try RemoteRequest(payload) }) {
    case .success(let request):
        try require((1...64).contains(request.owner.utf8.count), "an owner of \(request.owner.utf8.count) octets")
        try require((.milliseconds(100) ... .seconds(60)).contains(request.timeout), "\(request.timeout)")
        if case .write(_, let value, _) = request.action { try require(value.count <= 512, "\(value.count) octets") }
        id = request.id
        answer = .value(payload)
    case .failure(let refusal):
        try require(!refusal.reason.isEmpty, "a refusal without a reason")
        id = refusal.id
        answer = .refused(refusal)
    }
    let object = try? JSONSerialization.jsonObject(with: Data(answer.json(id: id).utf8)) as? [String: Any]
    try require(object != nil, "the answer is no JSON: \(answer.json(id: id))")
    try require(object?["id"] as? String == id, "the answer has another id")
}

let requestSeeds = [
    #"{"id":"7","owner":"node-red","device":"A4:C1:38:11:22:33","do":"connect","timeout":2.5}"#,
    #"{"id":"8","owner":"me","device":"A4:C1:38:11:22:33/P","do":"write","service":"180F","characteristic":"2A19","value":"01 ff","response":false}"#,
    #"{"id":"\u0000\"","owner":"me","device":"C0:00:00:00:00:01","do":"read","service":"12345678-0000-1000-8000-AABBCCDDEEFF","characteristic":"2A19"}"#,
    #"{"owner":"me","device":"nobody","do":"fly"}"#, "[]", "{}",
]

/// A line of recorded packets: a packet of a bounded size, or nothing.
func fuzzReplay(_ line: [UInt8]) throws {
    let text = String(decoding: line, as: UTF8.self)
    guard let (reception, _) = ReplaySource.reception(text, at: Instant(nanoseconds: 0)) else { return }
    try require(
        (reception.advertisingData.count + reception.scanResponseData.count) * 2 <= text.utf8.count,
        "a packet that is longer than its line")
}

let replaySeeds = [
    #"{"address":"A4:C1:38:00:00:01","type":"public","rssi":-60,"data":"0716d2fc4002ca09","time":1000}"#,
    #"{"address":"C0:00:00:00:00:02","type":"random","identity":"A4:C1:38:00:00:01/P","data":"","scan_response":"020A00","connectable":true,"adapter":"hci0"}"#,
]

/// The configuration file: a configuration, or an error that names its place and can be shown. The same at each
/// reading.
func fuzzConfiguration(_ bytes: [UInt8]) throws {
    let yaml = String(decoding: bytes, as: UTF8.self)
    switch (try outcome(yaml), try outcome(yaml)) {
    case (.success(let first), .success(let second)):
        try require(first == second, "it is read in two ways")
    case (.failure(let first), .failure(let second)):
        // Of several members that are there twice Yams names any, so the line is not compared.
        try require(first.reason == second.reason && first.path == second.path, "it has two errors")
    default: throw Violation(description: "it is read sometimes")
    }
}

private func outcome(_ yaml: String) throws -> Result<Configuration, ConfigurationError> {
    let outcome = Result { () throws(ConfigurationError) in
        try Configuration(yaml: yaml, gateway: "host") { $0 == "secret" ? "pass\n" : nil }
    }
    switch outcome {
    case .success(let configuration):
        try require(Topics.isLevel(configuration.topics.gateway), "the name \(configuration.topics.gateway)")
        try require(Topics.isPrefix(configuration.topics.base), "topics below \(configuration.topics.base)")
        try require(configuration.pipeline.capacity > 0 && configuration.remote.connections > 0, "no room")
    case .failure(let error):
        try require(!error.reason.isEmpty, "an error without a reason")
        let text = "\(error)"
        let isPlain = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        try require(isPlain, "an error that moves a terminal's cursor: \(text.debugDescription)")
    }
    return outcome
}

let configurationSeeds = [
    """
    gateway: attic
    preset: theengs
    broker:
      url: mqtts://u:p@broker.example:8883
      protocol: "5"
      password_file: secret
      tls: {ca: ca.pem, certificate: me.pem, key: me.key}
    topics: {base: house, discovery: ha}
    adapters: [hci0, "tcp-client:localhost:6402"]
    """,
    """
    filter: {allow: ["A4:C1:38:11:22:33"], deny: "C0:00:00:00:00:01", services: [FCD2], companies: [0x0499, 76], rssi: -80}
    publish: {repeat: 5, average: 30, device_rate: 2, device_burst: 4, total_rate: 9, total_burst: 8, expire: 40, devices: 7}
    keys: {"54:48:E6:8F:80:A5": 231D39C1D7CC1AB1AEE224CD096DB932}
    spool: {path: s.sqlite, messages: 100, megabytes: 2}
    """,
    """
    remote: {allow: "A4:C1:38:11:22:33", connections: 2, idle: 60}
    read: {devices: "A4:C1:38:11:22:33", characteristics: [2A6E, 2a19], every: 60}
    esphome: {listen: "[::1]:99", key: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=, pair: true}
    health: {interval: 5}
    """,
    "a: &a [b, *a]\ngateway: x\ngateway: y\n? [1]\n: 2\n",
]
