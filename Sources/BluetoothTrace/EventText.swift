import BluetoothBase
import BluetoothHCI

/// What an event packet says.
struct EventText {
    var fields: FieldText

    /// The event's name, as far as the packet, without its H4 indicator, tells it.
    static func name(of packet: Span<UInt8>) -> String {
        guard !packet.isEmpty else { return "event" }
        let code = HCIEventCode(rawValue: packet[0])
        return code == .leMeta && packet.count > 2 ? LESubeventCode(rawValue: packet[2]).description : code.description
    }

    func text(_ event: consuming HCIEvent) -> String {
        switch event {
        case .disconnectionComplete(let event): text(event)
        case .encryptionChange(let event): text(event)
        case .encryptionChangeV2(let event): text(event)
        case .encryptionKeyRefreshComplete(let event): text(event)
        case .readRemoteVersionInformationComplete(let event): text(event)
        case .commandComplete(let event): completion(event)
        case .commandStatus(let event): "Command Status \(event.opcode) status \(event.status)"
        case .hardwareError(let event): text(event)
        case .numberOfCompletedPackets(let event): counts(event)
        case .dataBufferOverflow(let event): text(event)
        case .leConnectionComplete(let event): text(le: event)
        case .leAdvertisingReports(let event): reports(event)
        case .leConnectionUpdateComplete(let event): text(le: event)
        case .leReadRemoteFeaturesComplete(let event): text(le: event)
        case .leLongTermKeyRequest(let event): text(le: event)
        case .leRemoteConnectionParameterRequest(let event): text(le: event)
        case .leDataLengthChange(let event): text(le: event)
        case .leEnhancedConnectionComplete(let event): text(le: event)
        case .leDirectedAdvertisingReports(let event): directedReports(event)
        case .lePHYUpdateComplete(let event): text(le: event)
        case .leExtendedAdvertisingReports(let event): extendedReports(event)
        case .leScanTimeout(let event): text(le: event)
        case .leAdvertisingSetTerminated(let event): text(le: event)
        case .leScanRequestReceived(let event): text(le: event)
        case .leChannelSelectionAlgorithm(let event): text(le: event)
        case .unknownLE(let code, let parameters): joined("\(code)", parameters.hexadecimal())
        case .unknown(let code, let parameters): joined("\(code)", parameters.hexadecimal())
        }
    }

    private func text<Event: HCIEventBody>(_ event: Event) -> String {
        joined("\(Event.code)", fields.fields(of: event))
    }

    private func text<Event: LEEventBody>(le event: Event) -> String {
        joined("\(Event.subeventCode)", fields.fields(of: event))
    }

    // MARK: - Command Complete

    private func completion(_ event: consuming CommandComplete) -> String {
        guard event.opcode != .none else { return "Command Complete credits \(event.numHCICommandPackets)" }
        let name = "Command Complete \(event.opcode)"
        guard let status = event.status else { return name }
        do throws(DecodingFailure) {
            guard let returned = try event.decodeKnownReturnParameters() else {
                return joined(name, event.returnParameters.hexadecimal())
            }
            // What stands behind a failure's status means nothing, whether it is there or not.
            return joined(name, "status \(status)", status.isSuccess ? fields.fields(of: returned) : "")
        } catch {
            guard status.isSuccess else { return "\(name) status \(status)" }
            return joined(name, malformed(error, event.returnParameters))
        }
    }

    // MARK: - Lists

    private func counts(_ event: consuming NumberOfCompletedPackets) -> String {
        var list: [String] = []
        while let count = event.next() { list.append("\(count.connectionHandle) \(count.count)") }
        if event.isTruncated { list.append("malformed, cut short") }
        return joined("\(NumberOfCompletedPackets.code)", list.joined(separator: ", "))
    }

    private func reports(_ event: consuming LEAdvertisingReports) -> String {
        var list: [String] = []
        while let report = event.next() {
            list.append(
                joined(
                    type(report.eventType), report.address.description, "RSSI \(report.rssi)",
                    data(report.data)))
        }
        return joined("\(LEAdvertisingReports.subeventCode)", listing(list, isMalformed: event.isMalformed))
    }

    private func extendedReports(_ event: consuming LEExtendedAdvertisingReports) -> String {
        var list: [String] = []
        while let report = event.next() {
            list.append(
                joined(
                    "type 0x" + hexadecimal(report.eventType.rawValue, digits: 4),
                    report.address?.description ?? "anonymous", "RSSI \(report.rssi)",
                    report.advertisingSID == 0xFF ? "" : "SID \(report.advertisingSID)", data(report.data)))
        }
        return joined("\(LEExtendedAdvertisingReports.subeventCode)", listing(list, isMalformed: event.isMalformed))
    }

    private func directedReports(_ event: consuming LEDirectedAdvertisingReports) -> String {
        var list: [String] = []
        while let report = event.next() {
            list.append(
                "\(type(report.eventType)) \(report.address) to \(report.directAddress) RSSI \(report.rssi)")
        }
        return joined("\(LEDirectedAdvertisingReports.subeventCode)", listing(list, isMalformed: event.isMalformed))
    }

    private func listing(_ list: [String], isMalformed: Bool) -> String {
        (list + (isMalformed ? ["malformed report"] : [])).joined(separator: "; ")
    }

    private func data(_ data: Span<UInt8>) -> String {
        data.isEmpty ? "data empty" : "data " + data.hexadecimal()
    }

    /// The advertising PDU a legacy report stands for.
    private func type(_ type: LEAdvertisingReport.EventType) -> String {
        switch type {
        case .connectableUndirected: "ADV_IND"
        case .connectableDirected: "ADV_DIRECT_IND"
        case .scannableUndirected: "ADV_SCAN_IND"
        case .nonConnectableUndirected: "ADV_NONCONN_IND"
        case .scanResponse: "SCAN_RSP"
        default: "type 0x" + hexadecimal(type.rawValue)
        }
    }
}
