import BluetoothBase
import BluetoothHCI

/// Periodic Advertising Sync Transfer, in both directions (Core 5.4, Vol 3, Part C, 9.5.4).
extension Host {
    /// Transfers a synchronization to a peer, so that the peer need not scan for the periodic advertising.
    /// `HostEvent.Link.requestCompleted` means that the controller has sent it. Whether the peer uses it is not known.
    ///
    /// - Parameter serviceData: a value for the peer, whose meaning is defined by the application.
    /// - Throws: `.unsupported` if the controller does not support the transfer; `.noSuchSync` if the periodic
    ///   advertising is no longer being received.
    public mutating func transfer(
        _ sync: PeriodicSyncIdentifier, serviceData: UInt16 = 0, to link: LinkIdentifier, at now: Instant
    ) throws(HostError) -> RequestIdentifier {
        let handle = try handle(of: sync)
        return try sendTransfer(of: .sendingSyncs, to: link, at: now) { connection in
            LEPeriodicAdvertisingSyncTransfer(
                connectionHandle: connection, serviceData: serviceData, syncHandle: handle)
        }
    }

    /// Transfers the synchronization information of this device's own periodic advertising to a peer.
    ///
    /// - Throws: `.unsupported` if the controller does not support the transfer; `.invalidParameters` if the set has no
    ///   periodic advertising.
    public mutating func transfer(
        _ set: AdvertisingHandle, serviceData: UInt16 = 0, to link: LinkIdentifier, at now: Instant
    ) throws(HostError) -> RequestIdentifier {
        guard advertiser.sets.contains(where: { $0.handle == set && $0.parameters?.periodic != nil }) else {
            throw .invalidParameters
        }
        return try sendTransfer(of: .sendingSyncs, to: link, at: now) { connection in
            LEPeriodicAdvertisingSetInfoTransfer(
                connectionHandle: connection, serviceData: serviceData, advertisingHandle: set)
        }
    }

    /// Sets how the host handles synchronizations that the peer of a link transfers. `HostEvent.Periodic.transferred`
    /// follows for each one that the controller synchronizes to. By default, and with nil, transfers are ignored.
    public mutating func acceptTransfers(
        _ parameters: PeriodicSyncParameters?, on link: LinkIdentifier, at now: Instant
    ) throws(HostError) -> RequestIdentifier {
        let wanted = parameters ?? PeriodicSyncParameters()
        guard wanted.isValid else { throw .invalidParameters }
        return try sendTransfer(of: .receivingSyncs, to: link, at: now) { connection in
            LESetPeriodicAdvertisingSyncTransferParameters(
                connectionHandle: connection, mode: parameters == nil ? .ignore : wanted.transferMode,
                skip: UInt16(clamping: wanted.skip), timeout: wanted.timeoutUnits)
        }
    }

    private mutating func sendTransfer<Command: HCICommand>(
        of feature: PeriodicFeatures, to link: LinkIdentifier, at now: Instant,
        _ command: (ConnectionHandle) -> Command
    ) throws(HostError) -> RequestIdentifier {
        guard let slot = links.slot(of: link) else { throw .noSuchLink }
        guard radio.periodic.contains(feature) else { throw .unsupported(.syncTransfer) }
        let request = purposes.makeRequest()
        guard sendOptional(command(links.at[slot.index].handle), for: .request(request, link), at: now) else {
            throw .busy
        }
        return request
    }

    /// Handles LE Periodic Advertising Sync Transfer Received, of either version (Vol 4, Part E, 7.7.65.24).
    mutating func syncTransferred(
        _ status: HCIStatus, _ connection: ConnectionHandle, _ serviceData: UInt16, _ new: NewSync, at now: Instant
    ) {
        // The failure is not reported, because the peer does not learn of it either.
        guard status == .success else { return }
        guard let slot = links.slot(of: connection), !synchronizer.isFull else {
            send(LEPeriodicAdvertisingTerminateSync(syncHandle: new.handle), for: .none, at: now)
            return
        }
        let identifier = makeSyncIdentifier()
        let information = insert(new, as: identifier)
        events.append(
            .periodic(
                identifier, .transferred(links.at[slot.index].identifier, serviceData: serviceData, information)))
    }
}
