import BluetoothBase
import BluetoothHCI

/// Formats an event packet, and stores the numbers of the last event.
struct EventText {
    let fields: FieldText
    /// The numbers of the event, without the parameter length, which only the packet contains.
    private(set) var numbers: PacketDescription.Event?
    private(set) var malformation: String?

    /// BR/EDR events, without a type in this package: Return Link Keys, Link Key Notification, User Passkey
    /// Notification.
    private static let keyed: Set<HCIEventCode> = [
        HCIEventCode(rawValue: 0x15), HCIEventCode(rawValue: 0x18), HCIEventCode(rawValue: 0x3B),
    ]

    /// LE Generate DHKey Complete.
    private static let keyedSubevent = LESubeventCode(rawValue: 0x09)

    init(fields: FieldText) { self.fields = fields }

    /// Returns the event's name, as far as it can be determined. The packet has no H4 indicator.
    static func name(of packet: Span<UInt8>) -> String {
        guard !packet.isEmpty else { return "event" }
        let code = HCIEventCode(rawValue: packet[0])
        return code == .leMeta && packet.count > 2 ? LESubeventCode(rawValue: packet[2]).description : code.description
    }

    mutating func text(_ event: consuming HCIEvent) -> String {
        switch event {
        case .disconnectionComplete(let event): text(event)
        case .encryptionChange(let event): text(event)
        case .encryptionChangeV2(let event): text(event)
        case .encryptionKeyRefreshComplete(let event): text(event)
        case .readRemoteVersionInformationComplete(let event): text(event)
        case .commandComplete(let event): completion(event)
        case .commandStatus(let event): status(event)
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
        case .lePeriodicAdvertisingSyncEstablished(let event): text(le: event)
        case .lePeriodicAdvertisingReport(let event): periodicReport(event)
        case .lePeriodicAdvertisingSyncLost(let event): text(le: event)
        case .lePeriodicAdvertisingSyncTransferReceived(let event): text(le: event)
        case .lePathLossThreshold(let event): text(le: event)
        case .leTransmitPowerReporting(let event): text(le: event)
        case .lePeriodicAdvertisingSyncEstablishedV2(let event): text(le: event)
        case .lePeriodicAdvertisingSyncTransferReceivedV2(let event): text(le: event)
        case .lePeriodicAdvertisingSubeventDataRequest(let event): text(le: event)
        case .lePeriodicAdvertisingResponseReports(let event): responses(event)
        case .unknownLE(let code, let parameters): unknown(.leMeta, code, parameters)
        case .unknown(let code, let parameters): unknown(code, nil, parameters)
        }
    }

    private mutating func note(
        _ code: HCIEventCode, _ subeventCode: LESubeventCode? = nil, links: [ConnectionHandle] = []
    ) {
        numbers = PacketDescription.Event(
            code: code, parameterLength: 0, subeventCode: subeventCode, connectionHandles: links)
    }

    private mutating func unknown(
        _ code: HCIEventCode, _ subeventCode: LESubeventCode?, _ parameters: Span<UInt8>
    ) -> String {
        note(code, subeventCode)
        let isHidden = !fields.showsKeys && (Self.keyed.contains(code) || subeventCode == Self.keyedSubevent)
        if let offset = subeventCode?.untypedConnectionHandleOffset,
            let link = LinkParameters(parameters, handleAt: offset)
        {
            numbers?.connectionHandles = [link.handle]
            return joined(subeventCode?.description ?? "", link.text)
        }
        return joined(
            subeventCode?.description ?? code.description, isHidden ? "(hidden)" : parameters.hexadecimal())
    }

    private mutating func text<Event: HCIEventBody>(_ event: Event) -> String {
        note(Event.code, links: connectionHandles(in: event))
        return joined("\(Event.code)", fields.fields(of: event))
    }

    private mutating func text<Event: LEEventBody>(le event: Event) -> String {
        note(Event.code, Event.subeventCode, links: connectionHandles(in: event))
        return joined("\(Event.subeventCode)", fields.fields(of: event))
    }

    // MARK: - Answers to commands

    private mutating func status(_ event: CommandStatus) -> String {
        note(CommandStatus.code)
        numbers?.commandOpcode = event.opcode
        return "Command Status \(event.opcode) status \(event.status)"
    }

    private mutating func completion(_ event: consuming CommandComplete) -> String {
        note(CommandComplete.code)
        numbers?.commandOpcode = event.opcode
        guard event.opcode != .none else { return "Command Complete credits \(event.numHCICommandPackets)" }
        let name = "Command Complete \(event.opcode)"
        guard let status = event.status else { return name }
        do throws(DecodingFailure) {
            guard let returned = try event.decodeKnownReturnParameters() else {
                let isHidden = !fields.showsKeys && CommandText.keyed.contains(event.opcode)
                let parameters = event.returnParameters
                if event.opcode.untypedBeginsWithConnectionHandle,
                    let link = LinkParameters(parameters, handleAt: 1)
                {
                    numbers?.connectionHandles = [link.handle]
                    return joined(name, link.text)
                }
                return joined(name, isHidden ? "(hidden)" : parameters.hexadecimal())
            }
            numbers?.connectionHandles = connectionHandles(in: returned)
            // The parameters after the status of a failure are meaningless.
            return joined(name, "status \(status)", status.isSuccess ? fields.fields(of: returned) : "")
        } catch {
            guard status.isSuccess else { return "\(name) status \(status)" }
            malformation = "\(error)"
            return joined(name, malformedText("\(error)", event.returnParameters))
        }
    }

    // MARK: - Lists

    private mutating func counts(_ event: consuming NumberOfCompletedPackets) -> String {
        note(NumberOfCompletedPackets.code)
        var list: [String] = []
        while let count = event.next() {
            numbers?.connectionHandles.append(count.connectionHandle)
            list.append("\(count.connectionHandle) \(count.count)")
        }
        if event.isTruncated {
            malformation = "cut short"
            list.append("malformed, cut short")
        }
        return joined("\(NumberOfCompletedPackets.code)", list.joined(separator: ", "))
    }

    private mutating func reports(_ event: consuming LEAdvertisingReports) -> String {
        note(LEAdvertisingReports.code, LEAdvertisingReports.subeventCode)
        var list: [String] = []
        while let report = event.next() {
            list.append(
                joined(
                    type(report.eventType), report.address.description, "RSSI \(report.rssi)",
                    data(report.data)))
        }
        return joined("\(LEAdvertisingReports.subeventCode)", listing(list, isMalformed: event.isMalformed))
    }

    private mutating func extendedReports(_ event: consuming LEExtendedAdvertisingReports) -> String {
        note(LEExtendedAdvertisingReports.code, LEExtendedAdvertisingReports.subeventCode)
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

    private mutating func periodicReport(_ event: consuming LEPeriodicAdvertisingReport) -> String {
        let code: LESubeventCode =
            event.subevent == nil ? .periodicAdvertisingReport : .periodicAdvertisingReportV2
        note(.leMeta, code)
        let place = event.subevent.map { "event \($0.eventCounter) subevent \($0.number)" } ?? ""
        return joined(
            "\(code)", "sync handle \(event.syncHandle)", place, "RSSI \(event.rssi)", "status \(event.dataStatus)",
            data(event.data))
    }

    private mutating func responses(_ event: consuming LEPeriodicAdvertisingResponseReports) -> String {
        note(.leMeta, LEPeriodicAdvertisingResponseReports.subeventCode)
        let name = "\(LEPeriodicAdvertisingResponseReports.subeventCode) set \(event.advertisingHandle.rawValue)"
        let place = "subevent \(event.subevent)"
        var list: [String] = []
        while let response = event.next() {
            list.append(
                joined(
                    "slot \(response.slot)", "RSSI \(response.rssi)", "status \(response.dataStatus)",
                    data(response.data)))
        }
        return joined(name, place, listing(list, isMalformed: event.isMalformed))
    }

    private mutating func directedReports(_ event: consuming LEDirectedAdvertisingReports) -> String {
        note(LEDirectedAdvertisingReports.code, LEDirectedAdvertisingReports.subeventCode)
        var list: [String] = []
        while let report = event.next() {
            list.append(
                "\(type(report.eventType)) \(report.address) to \(report.directAddress) RSSI \(report.rssi)")
        }
        return joined("\(LEDirectedAdvertisingReports.subeventCode)", listing(list, isMalformed: event.isMalformed))
    }

    private mutating func listing(_ list: [String], isMalformed: Bool) -> String {
        if isMalformed { malformation = "malformed report" }
        return (list + (isMalformed ? ["malformed report"] : [])).joined(separator: "; ")
    }

    private func data(_ data: Span<UInt8>) -> String {
        data.isEmpty ? "data empty" : "data " + data.hexadecimal()
    }

    /// Returns the name of the advertising PDU in a legacy report.
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
