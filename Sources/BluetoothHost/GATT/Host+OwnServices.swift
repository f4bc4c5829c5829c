import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothSMP

/// The database, and the services that every device has.
extension Host {
    /// Adds a service to the database. Peers that have subscribed to Service Changed receive an indication (Core 5.4,
    /// Vol 3, Part G, 7.1).
    ///
    /// - Parameter handle: the handle of the service declaration; nil for the one that the definition requests, or else
    ///   the first free range.
    public mutating func addService(
        _ definition: GATTServiceDefinition, handle: AttributeHandle? = nil, at now: Instant
    ) throws(GATTDatabaseError) -> GATTServiceHandles {
        let handles = try server.database.add(definition, at: handle)
        added(definition, handles, at: now)
        return handles
    }

    /// Adds services that may include each other. Either all of them are added, or none.
    public mutating func addServices(
        _ definitions: [GATTServiceDefinition], at now: Instant
    ) throws(GATTDatabaseError) -> [GATTServiceHandles] {
        let handles = try server.database.add(definitions)
        for (definition, handles) in zip(definitions, handles) { added(definition, handles, at: now) }
        return handles
    }

    /// Removes a service from the database, together with the state that links keep for it. Peers that have subscribed
    /// to Service Changed receive an indication.
    ///
    /// - Parameter handle: the handle of the service declaration.
    /// - Returns: the handles that are now free.
    /// - Throws: `.included` if another service includes this one.
    @discardableResult
    public mutating func removeService(
        _ handle: AttributeHandle, at now: Instant
    ) throws(GATTDatabaseError) -> ClosedRange<AttributeHandle> {
        try removeServices([handle], at: now)[0]
    }

    /// Removes services from the database. Either all of them are removed, or none. They may include each other.
    ///
    /// - Returns: the handles that are now free, in the order of the declarations.
    /// - Throws: `.included` if a remaining service includes one of them.
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
        // The database is empty, and both services are well formed, so they cannot be refused. The controller is not
        // known yet: `publishAddressResolution` updates the value later.
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

    /// Publishes in Central Address Resolution whether the controller resolves addresses. If it does, a peer may direct
    /// advertising to a private address of this device (Vol 3, Part C, 12.4).
    mutating func publishAddressResolution(_ controllerResolves: Bool) {
        guard ownServices.centralAddressResolution != 0 else { return }
        // Cannot fail: the value has one octet, like the old one.
        try? server.database.setValue([controllerResolves ? 1 : 0], of: ownServices.centralAddressResolution)
    }

    // MARK: Database Hash

    /// The Database Hash of this host's server (Vol 3, Part G, 7.3); nil without security.
    mutating func ownDatabaseHash() -> UInt128? {
        guard let crypto = security?.crypto else { return nil }
        return ownServices.hash(of: server.database, crypto)
    }

    /// Answers a read of the Database Hash or of Server Supported Features on behalf of the application. Returns false
    /// for any other value.
    mutating func answerOwnValue(
        _ request: ServerRequest, _ handle: AttributeHandle, offset: Int, _ slot: LinkSlot
    ) -> Bool {
        var value = ByteWriter(reservingCapacity: 16)
        switch server.database.type(of: handle) {
        case .databaseHash:
            guard let hash = ownDatabaseHash() else { return false }
            // Values are little-endian, and the specification states no other order for this one.
            value.append(hash)
        case .serverSupportedFeatures:
            // Enhanced ATT bearers need an encrypted link (Part G, 5.3). Linux requests them as soon as it reads that
            // they are supported. It encrypts the link for that purpose, and disconnects if that fails.
            value.append(links.at[slot.index].endpoint.security.isEncrypted ? 1 as UInt8 : 0)
        default: return false
        }
        // Cannot fail: the request was just received and is unanswered, and the peer accepts a value of at most 16
        // octets.
        _ = try? answer(request, value: value.span.extracting(droppingFirst: min(offset, value.count)))
        return true
    }

    private mutating func added(
        _ definition: GATTServiceDefinition, _ handles: GATTServiceHandles, at now: Instant
    ) {
        // The application may publish a Generic Attribute service if the host publishes none.
        if definition.uuid == .genericAttribute { ownServices.added(attribute: definition, handles) }
        databaseChanged(handles.range, at: now)
    }

    /// Whether the peer of a link has subscribed to the indications of one of this host's values.
    func isSubscribed(_ slot: LinkSlot, toIndicationsOf value: AttributeHandle) -> Bool {
        links.at[slot.index].endpoint.servedClient.configuration(of: value).contains(.indications)
    }

    // MARK: Service Changed

    private mutating func databaseChanged(_ handles: ClosedRange<AttributeHandle>, at now: Instant) {
        ownServices.databaseChanged()
        for slot in links.used {
            links.at[slot.index].endpoint.databaseChanged()
            announceServiceChange(.changed(handles), slot, at: now)
        }
    }

    /// Indicates a pending change to a peer, unless another indication is unconfirmed.
    mutating func indicateServiceChange(_ slot: LinkSlot, at now: Instant) {
        guard links.at[slot.index].serviceChange.isOwed else { return }
        announceServiceChange(.bearerFree, slot, at: now)
    }

    /// Handles an event of the Service Changed indications, and performs the effect.
    mutating func announceServiceChange(_ event: ServiceChangeIndication.Event, _ slot: LinkSlot, at now: Instant) {
        let context = ServiceChangeIndication.Context(
            isSubscribed: isSubscribed(slot, toIndicationsOf: ownServices.serviceChangedHandle),
            isReady: links.at[slot.index].endpoint.bearer(of: .first)?.isReadyForIndication == true)
        switch links.at[slot.index].serviceChange.handle(event, context) {
        case nil: return
        case .indicate(let handles):
            var value = ByteWriter(reservingCapacity: 4)
            value.append(handles.lowerBound)
            value.append(handles.upperBound)
            // Fails if the application's own Service Changed must not be sent over this link.
            let isSent = try? indicate(
                ownServices.serviceChangedHandle, value: value.span, on: links.at[slot.index].identifier, at: now)
            if isSent != true { announceServiceChange(.notSent, slot, at: now) }
        case .settle: links.at[slot.index].endpoint.changeConfirmed()
        }
    }
}
