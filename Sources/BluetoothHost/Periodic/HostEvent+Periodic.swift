import BluetoothBase
import BluetoothHCI

extension HostEvent {
    /// Events of periodic advertising that is being received, or was requested.
    public enum Periodic: Sendable {
        /// The synchronization requested by `Host.synchronize` is established.
        indirect case established(PeriodicSyncInformation)
        /// The synchronization requested by `Host.synchronize` failed.
        case failed(HostError)
        /// The peer of a link has transferred a synchronization, which is now established. The meaning of `serviceData`
        /// is defined by the application.
        indirect case transferred(LinkIdentifier, serviceData: UInt16, PeriodicSyncInformation)
        /// Data was received.
        case report(PeriodicReport)
        /// The synchronization has ended.
        case ended(PeriodicSyncEnd)
    }

    /// Events of this device's periodic advertising with responses.
    public enum Subevents: Sendable {
        /// The controller will send these subevents next. Call `Host.setSubeventData`; subevents without data are left
        /// out.
        case dataRequested(first: Int, count: Int)
        /// A device responded to a subevent, in this slot.
        indirect case response(subevent: Int, slot: Int, PeriodicReport)
        /// A response in this slot could not be received. Several devices may have used the slot.
        case responseLost(subevent: Int, slot: Int)
    }
}
