import BluetoothBase
import BluetoothHCI

extension HostEvent {
    /// What happened to periodic advertising that is received, or was to be.
    public enum Periodic: Sendable {
        /// It is received from now on, as `Host.synchronize` asked for.
        indirect case established(PeriodicSyncInformation)
        /// What `Host.synchronize` asked for did not come about.
        case failed(HostError)
        /// It is received from now on, since the peer of a link told of it, with a value that is up to the applications.
        indirect case transferred(LinkIdentifier, serviceData: UInt16, PeriodicSyncInformation)
        /// Data was received.
        case report(PeriodicReport)
        /// It is not received any more.
        case ended(PeriodicSyncEnd)
    }

    /// What happened to the periodic advertising of this device that has responses.
    public enum Subevents: Sendable {
        /// The controller sends these subevents next: `Host.setSubeventData`, or they are left out.
        case dataRequested(first: Int, count: Int)
        /// A device has answered a subevent, in this slot.
        indirect case response(subevent: Int, slot: Int, PeriodicReport)
        /// What was sent in this slot could not be received: perhaps several have used it.
        case responseLost(subevent: Int, slot: Int)
    }
}
