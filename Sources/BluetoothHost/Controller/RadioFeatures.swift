import BluetoothHCI

/// What the activities have to know of the controller.
///
/// A host that has used one of the extended commands for advertising, scanning or connecting may use none of the legacy ones until
/// the next reset, and the other way round (Core 5.4, Vol 4, Part E, 3.1.1). So this is decided once, when the controller is up,
/// for all activities.
struct RadioFeatures: Equatable, Sendable {
    /// Whether all is done by the extended commands.
    var isExtended = false
    /// The version of HCI; nil where that is not known.
    var version: CoreVersion?
    /// How many advertising sets there may be at once.
    var setCount = 1
    /// How many octets of advertising data a set takes.
    var maximumDataLength = 31
    /// The PHYs of the extended commands.
    var phys: LEPHYs = .le1M
    var periodic: PeriodicFeatures = []

    /// What there is before a controller is up: nothing is ruled out.
    init() {}

    init(_ controller: ControllerInformation) {
        isExtended = controller.usesExtendedCommands
        version = controller.version?.hciVersion
        setCount = controller.advertisingSetCount
        maximumDataLength = controller.maximumAdvertisingDataLength
        periodic = PeriodicFeatures(controller)
        if isExtended, controller.features.contains(.le2MPHY) { phys.insert(.le2M) }
        if isExtended, controller.features.contains(.leCodedPHY) { phys.insert(.leCoded) }
    }
}
