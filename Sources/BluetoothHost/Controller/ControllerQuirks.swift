import BluetoothHCI

/// What some controllers do otherwise than they say. All that the host does for the sake of one make of controller is asked here.
struct ControllerQuirks: OptionSet, Sendable {
    let rawValue: UInt8

    /// It lists the commands for flow control towards the host, and ends when it gets one.
    static let endsAtFlowControl = ControllerQuirks(rawValue: 1 << 0)
    /// It lists LE Set PHY, answers it with nothing, and so keeps the host from sending it any other command.
    static let leavesSetPHYUnanswered = ControllerQuirks(rawValue: 1 << 1)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Those of the controller with a version; none where it did not say.
    init(_ version: ReadLocalVersionInformation.ReturnParameters?) {
        self = []
        guard let version else { return }
        // RootCanal, Android's virtual controller, has the company identifier of Google.
        if version.companyIdentifier == 0x00E0 { insert(.endsAtFlowControl) }
        // Bumble's virtual controller: version 5.0 without a manufacturer or a revision.
        if version.hciVersion == .v50, version.companyIdentifier == 0xFFFF, version.lmpSubversion == 0 {
            insert(.leavesSetPHYUnanswered)
        }
    }
}

extension ControllerInformation {
    var quirks: ControllerQuirks { ControllerQuirks(version) }
}
