import BluetoothHCI

/// The properties of the controller that the activities depend on.
///
/// After a host has used an extended command for advertising, scanning or connecting, it must not use a legacy one
/// until the next reset, and vice versa (Core 5.4, Vol 4, Part E, 3.1.1). The choice is therefore made once, for all
/// activities, when the controller is up.
struct RadioFeatures: Equatable, Sendable {
    /// Whether the extended commands are used.
    var isExtended = false
    /// The HCI version; nil if it is not known.
    var version: CoreVersion?
    /// The maximum number of simultaneous advertising sets.
    var setCount = 1
    /// The maximum length of a set's advertising data, in octets.
    var maximumDataLength = 31
    /// The PHYs available with the extended commands.
    var phys: LEPHYs = .le1M
    var periodic: PeriodicFeatures = []

    /// The features to assume before a controller is up.
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
