import BluetoothBase
import BluetoothHCI

/// Telling peers of periodic advertising, and learning of it from them (Core 5.4, Vol 3, Part C, 9.5.4).
extension Host {
    /// Tells a peer of periodic advertising that this host receives, so that it need not scan for it. `requestCompleted` says that
    /// the controller has sent it; whether the peer makes use of it is not known.
    ///
    /// - Parameter serviceData: what the peer is told with it; its meaning is up to the applications.
    /// - Throws: `.unsupported` where the controller cannot; `.noSuchSync` where it is not received any more.
    public mutating func transfer(
        _ sync: PeriodicSyncIdentifier, serviceData: UInt16 = 0, to link: LinkIdentifier, at now: Instant
    ) throws(HostError) -> RequestIdentifier {
        let handle = try handle(of: sync)
        return try sendTransfer(of: .sendingSyncs, to: link, at: now) { connection in
            LEPeriodicAdvertisingSyncTransfer(
                connectionHandle: connection, serviceData: serviceData, syncHandle: handle)
        }
    }

    /// Tells a peer of periodic advertising of this device.
    ///
    /// - Throws: `.unsupported` where the controller cannot; `.invalidParameters` where the set has none.
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

    /// Says what becomes of periodic advertising of which the peer of a link tells. `HostEvent.Periodic.transferred` follows for
    /// each that is received. At first, and with nil, nothing becomes of it.
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
        let request = makeRequest()
        guard sendOptional(command(links.at[slot.index].handle), for: .request(request, link), at: now) else {
            throw .busy
        }
        return request
    }

    /// LE Periodic Advertising Sync Transfer Received, of either form (Vol 4, Part E, 7.7.65.24).
    mutating func syncTransferred(
        _ status: HCIStatus, _ connection: ConnectionHandle, _ serviceData: UInt16, _ new: NewSync, at now: Instant
    ) {
        // The peer will not learn that it failed either.
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
