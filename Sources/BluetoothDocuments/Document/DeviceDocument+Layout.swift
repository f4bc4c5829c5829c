import BluetoothATT
import BluetoothBase
import BluetoothGATT

extension DeviceDocument {
    /// The database of a document.
    public struct Layout: Equatable, Sendable {
        /// The definitions of the services, with their handles.
        public var definitions: [GATTServiceDefinition] = []
        /// The handles of the services.
        public var handles: [GATTServiceHandles] = []
        /// The scheduled notifications, with the value handles of their characteristics, in order of time.
        public var notifications: [ScheduledNotification] = []

        /// Returns the characteristic with a value handle, or nil if it does not exist.
        public func characteristic(at value: AttributeHandle) -> GATTCharacteristicDefinition? {
            for (definition, handles) in zip(definitions, handles) {
                guard let index = handles.characteristics.firstIndex(where: { $0.value == value }) else { continue }
                return definition.characteristics[index]
            }
            return nil
        }
    }

    /// Whether the document is the complete database, because it specifies a handle or contains a Generic Access or
    /// Generic Attribute service.
    private var isWhole: Bool {
        services.contains { service in
            service.uuid == .genericAccess || service.uuid == .genericAttribute || service.handle != nil
                || service.endHandle != nil || service.includes.contains { $0.handle != nil }
                || service.characteristics.contains { characteristic in
                    characteristic.handle != nil || characteristic.valueHandle != nil
                        || characteristic.descriptors.contains { $0.handle != nil }
                }
        }
    }

    /// Assigns handles to the database. Services are placed one after the other, starting at handle 1, except where the
    /// document specifies handles.
    ///
    /// - Throws: if handles collide or are out of order, or if a reference has no target.
    public func layout() throws(DocumentError) -> Layout {
        var layout = Layout()
        if addsGenericServices ?? !isWhole {
            layout.definitions = [.genericAccess(deviceName: name ?? ""), .genericAttribute()]
        }
        let added = layout.definitions.count
        layout.definitions += services.map(\.definition)
        var next: AttributeHandle = 1
        for index in layout.definitions.indices {
            do throws(GATTDatabaseError) {
                let handles = try layout.definitions[index].handles(from: next)
                layout.definitions[index].handle = handles.declaration
                layout.handles.append(handles)
                next = handles.end == 0xFFFF ? 0xFFFF : AttributeHandle(handles.end.rawValue + 1)
            } catch {
                throw DocumentError("services[\(index - added)]", .database(error))
            }
        }
        try checkOverlaps(layout, added: added)
        for (index, service) in services.enumerated() {
            for (number, include) in service.includes.enumerated() {
                guard let target = layout.declaration(of: include.target) else {
                    throw DocumentError(
                        "services[\(index)].includes[\(number)]",
                        .expected("a service of this document", found: include.target.text))
                }
                layout.definitions[added + index].includes[number] = target
            }
        }
        layout.notifications = try scheduled(in: layout)
        return layout
    }

    private func checkOverlaps(_ layout: Layout, added: Int) throws(DocumentError) {
        let ordered = layout.handles.enumerated().sorted { $0.element.declaration < $1.element.declaration }
        for (former, latter) in zip(ordered, ordered.dropFirst())
        where former.element.end >= latter.element.declaration {
            // Report the one that appears later in the document.
            let index = max(former.offset, latter.offset)
            throw DocumentError(
                "services[\(index - added)]", .database(.handleInUse(latter.element.declaration)))
        }
    }

    private func scheduled(in layout: Layout) throws(DocumentError) -> [ScheduledNotification] {
        var scheduled: [ScheduledNotification] = []
        for (index, notification) in notifications.enumerated() {
            let place = "notifications[\(index)]"
            let handle: AttributeHandle?
            let member: String
            switch notification.characteristic {
            case .handle(let value): (handle, member) = (value, "handle")
            case .uuid(let uuid): (handle, member) = (layout.value(of: uuid), "uuid")
            }
            guard let handle, let definition = layout.characteristic(at: handle),
                !definition.properties.isDisjoint(with: [.notify, .indicate])
            else {
                throw DocumentError(
                    "\(place).\(member)",
                    .expected(
                        "a characteristic of this document that notifies or indicates",
                        found: notification.characteristic.text))
            }
            scheduled.append(
                ScheduledNotification(
                    handle: handle, time: notification.time,
                    // If clients can't subscribe, the time always starts at the connection.
                    origin: definition.unconditional.isEmpty ? notification.origin : .connection,
                    octets: notification.octets, isIndication: notification.isIndication))
        }
        return scheduled.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
            .map(\.element)
    }
}

extension DeviceDocument.Layout {
    /// Returns the declaration handle of the service that an include refers to.
    fileprivate func declaration(of target: DeviceDocument.Include.Target) -> AttributeHandle? {
        switch target {
        case .handle(let handle): handles.first { $0.declaration == handle }?.declaration
        case .uuid(let uuid): definitions.first { $0.uuid == uuid }?.handle
        }
    }

    /// Returns the value handle of the first characteristic with a UUID.
    public func value(of uuid: BluetoothUUID) -> AttributeHandle? {
        for (definition, handles) in zip(definitions, handles) {
            guard let index = definition.characteristics.firstIndex(where: { $0.uuid == uuid }) else { continue }
            return handles.characteristics[index].value
        }
        return nil
    }
}

extension DeviceDocument.Include.Target {
    fileprivate var text: String {
        switch self {
        case .handle(let handle): "handle \(handle)"
        case .uuid(let uuid): "\(uuid)"
        }
    }
}

extension DeviceDocument.Notification.Characteristic {
    fileprivate var text: String {
        switch self {
        case .handle(let handle): "handle \(handle)"
        case .uuid(let uuid): "\(uuid)"
        }
    }
}
