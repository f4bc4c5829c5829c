import BluetoothHCI

/// Known deviations of controllers from the capabilities that they report. Every workaround for a particular make of
/// controller starts here.
struct ControllerQuirks: OptionSet, Sendable {
    let rawValue: UInt8

    /// The controller lists the commands for controller-to-host flow control, but terminates when it receives one.
    static let endsAtFlowControl = ControllerQuirks(rawValue: 1 << 0)
    /// The controller lists LE Set PHY but never answers it, which keeps the host from sending any other command.
    static let leavesSetPHYUnanswered = ControllerQuirks(rawValue: 1 << 1)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The quirks of a controller, identified by its version; none if it did not report one.
    init(_ version: ReadLocalVersionInformation.ReturnParameters?) {
        self = []
        guard let version else { return }
        // RootCanal, Android's virtual controller, uses Google's company identifier.
        if version.companyIdentifier == 0x00E0 { insert(.endsAtFlowControl) }
        // Bumble's virtual controller reports version 5.0 without a manufacturer or revision.
        if version.hciVersion == .v50, version.companyIdentifier == 0xFFFF, version.lmpSubversion == 0 {
            insert(.leavesSetPHYUnanswered)
        }
    }
}

extension ControllerInformation {
    var quirks: ControllerQuirks { ControllerQuirks(version) }
}
