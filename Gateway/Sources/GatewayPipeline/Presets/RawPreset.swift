import BluetoothBase

/// `raw`: packets as received, for subscribers that decode them.
struct RawPreset: Preset {
    private let topics: Topics

    init(_ topics: Topics) { self.topics = topics }

    var availabilityTopic: String { topics.availability }

    mutating func forget() {}

    mutating func publications(for report: Report) -> [Publication] {
        // The packet of an event is also reported as a state.
        guard report.reason == .state else { return [] }
        let object = JSONObject {
            $0.add("address", report.address.octets)
            $0.add("type", report.address.isPublic ? "public" : "random")
            if report.identity != report.address.plain { $0.add("identity", report.identity.octets) }
            $0.add("rssi", report.rssi)
            $0.add("connectable", report.isConnectable)
            $0.add("data", report.advertisingData.hexadecimal(separator: ""))
            if !report.scanResponseData.isEmpty {
                $0.add("scan_response", report.scanResponseData.hexadecimal(separator: ""))
            }
            $0.add("gateway", topics.gateway)
            $0.add("adapter", report.adapter)
            $0.add("time", report.time.milliseconds)
        }
        return [Publication(topic: topics.raw(report.identity), text: object.text, importance: .passing)]
    }
}

extension DeviceAddress {
    /// Whether the address is public, that is, assigned by its manufacturer.
    var isPublic: Bool { kind == .public || kind == .publicIdentity }
}
