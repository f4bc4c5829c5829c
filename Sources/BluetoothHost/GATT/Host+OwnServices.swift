import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothSMP

/// The database, and the services every device has.
extension Host {
    /// Adds a service to the database. Peers that have subscribed to Service Changed get an indication (Core 5.4, Vol 3, Part G, 7.1).
    ///
    /// - Parameter handle: where to put it; where its definition asks for, or the first free place, if nil.
    public mutating func addService(
        _ definition: GATTServiceDefinition, handle: AttributeHandle? = nil, at now: Instant
    ) throws(GATTDatabaseError) -> GATTServiceHandles {
        let handles = try server.database.add(definition, at: handle)
        added(definition, handles, at: now)
        return handles
    }

    /// Adds services that may include each other, all or none of them.
    public mutating func addServices(
        _ definitions: [GATTServiceDefinition], at now: Instant
    ) throws(GATTDatabaseError) -> [GATTServiceHandles] {
        let handles = try server.database.add(definitions)
        for (definition, handles) in zip(definitions, handles) { added(definition, handles, at: now) }
        return handles
    }

    /// Takes a service out of the database, and whatever links remember of it. Peers that have subscribed to
    /// Service Changed get an indication.
    ///
    /// - Parameter handle: the handle of its declaration.
    /// - Returns: the handles that are free now.
    /// - Throws: `.included` while another service includes it.
    @discardableResult
    public mutating func removeService(
        _ handle: AttributeHandle, at now: Instant
    ) throws(GATTDatabaseError) -> ClosedRange<AttributeHandle> {
        try removeServices([handle], at: now)[0]
    }

    /// Takes services out of the database, all or none of them; they may include each other.
    ///
    /// - Returns: the handles that are free now, in the order of the declarations.
    /// - Throws: `.included` while a service that stays includes one of them.
    @discardableResult
    public mutating func removeServices(
        _ declarations: [AttributeHandle], at now: Instant
    ) throws(GATTDatabaseError) -> [ClosedRange<AttributeHandle>] {
        let removed = try server.database.removeServices(at: declarations)
        for handles in removed {
            for slot in links.used { links.at[slot.index].endpoint.forget(handles) }
            ownServices.removed(handles)
            databaseChanged(handles, at: now)
        }
        return removed
    }

    /// Publishes Generic Access and Generic Attribute (Vol 3, Part C, 12 and Part G, 7).
    mutating func publishOwnServices() {
        guard configuration.publishesOwnServices else { return }
        // The database is empty, and both are well formed: neither can be refused.
        // Which controller there will be is not known yet: `publishAddressResolution` says what it can.
        let access = configuration.genericAccess.service(
            deviceName: configuration.deviceName,
            centralAddressResolution: configuration.privacy.isResolvable ? false : nil,
            usesPrivateAddressesOnly: configuration.privacy.isResolvable)
        ownServices.added(access: access, try? server.database.add(access))
        let hasBearers = security != nil && configuration.enhancedBearers > 0
        // For the same reason it can't be refused.
        let attribute = GATTServiceDefinition.genericAttribute(
            hasDatabaseHash: security != nil, serverSupportedFeatures: hasBearers ? .dynamic : nil)
        ownServices.added(attribute: attribute, try? server.database.add(attribute))
    }

    /// Says in Central Address Resolution whether the controller resolves addresses: whether a peer may advertise for this
    /// device under a private address (Vol 3, Part C, 12.4).
    mutating func publishAddressResolution(_ controllerResolves: Bool) {
        guard ownServices.centralAddressResolution != 0 else { return }
        // The value has one octet, as the old one.
        try? server.database.setValue([controllerResolves ? 1 : 0], of: ownServices.centralAddressResolution)
    }

    // MARK: Database Hash

    /// The Database Hash of this host's server (Vol 3, Part G, 7.3); nil without ciphers.
    mutating func ownDatabaseHash() -> UInt128? {
        guard let crypto = security?.crypto else { return nil }
        return ownServices.hash(of: server.database, crypto)
    }

    /// Answers a read of the Database Hash, or of Server Supported Features, in the application's place. False where another value
    /// is read.
    mutating func answerOwnValue(
        _ request: ServerRequest, _ handle: AttributeHandle, offset: Int, _ slot: LinkSlot
    ) -> Bool {
        var value = ByteWriter(reservingCapacity: 16)
        switch server.database.type(of: handle) {
        case .databaseHash:
            guard let hash = ownDatabaseHash() else { return false }
            // Values are little-endian, and nothing else is said of this one.
            value.append(hash)
        case .serverSupportedFeatures:
            // Enhanced ATT bearers are for links that are encrypted (Part G, 5.3). Linux asks for them as soon as it reads that
            // there are some, encrypts the link for their sake, and ends it where that fails.
            value.append(links.at[slot.index].endpoint.security.isEncrypted ? 1 as UInt8 : 0)
        default: return false
        }
        // It was received a moment ago, so it waits for an answer, which the peer accepts: it has at most 16 octets.
        _ = try? answer(request, value: value.span.extracting(droppingFirst: min(offset, value.count)))
        return true
    }

    private mutating func added(
        _ definition: GATTServiceDefinition, _ handles: GATTServiceHandles, at now: Instant
    ) {
        // Somebody else's Generic Attribute service, where the host has none of its own.
        if definition.uuid == .genericAttribute { ownServices.added(attribute: definition, handles) }
        databaseChanged(handles.range, at: now)
    }

    /// Whether the peer of a link has subscribed to the indications of a value of this host.
    func isSubscribed(_ slot: LinkSlot, toIndicationsOf value: AttributeHandle) -> Bool {
        links.at[slot.index].endpoint.peer.configuration(of: value).contains(.indications)
    }

    // MARK: Service Changed

    private mutating func databaseChanged(_ handles: ClosedRange<AttributeHandle>, at now: Instant) {
        ownServices.databaseChanged()
        for slot in links.used {
            links.at[slot.index].endpoint.databaseChanged()
            announceServiceChange(.changed(handles), slot, at: now)
        }
    }

    /// Indicates to a peer a change that waits for that, where no other indication is unconfirmed.
    mutating func indicateServiceChange(_ slot: LinkSlot, at now: Instant) {
        guard links.at[slot.index].serviceChange.isOwed else { return }
        announceServiceChange(.bearerFree, slot, at: now)
    }

    /// Performs what follows from an event of the indications of changes.
    mutating func announceServiceChange(_ event: ServiceChangeIndication.Event, _ slot: LinkSlot, at now: Instant) {
        let context = ServiceChangeIndication.Context(
            isSubscribed: isSubscribed(slot, toIndicationsOf: ownServices.serviceChanged),
            isReady: links.at[slot.index].endpoint.bearer(of: .first)?.isReadyForIndication == true)
        switch links.at[slot.index].serviceChange.handle(event, context) {
        case nil: return
        case .indicate(let handles):
            var value = ByteWriter(reservingCapacity: 4)
            value.append(handles.lowerBound)
            value.append(handles.upperBound)
            // It fails where the application's own Service Changed may not be sent over this link.
            let isSent = try? indicate(
                ownServices.serviceChanged, value: value.span, on: links.at[slot.index].identifier, at: now)
            if isSent != true { announceServiceChange(.notSent, slot, at: now) }
        case .settle: links.at[slot.index].endpoint.changeConfirmed()
        }
    }
}
