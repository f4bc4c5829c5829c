import BluetoothATT
import BluetoothBase
import BluetoothGATT

extension DeviceDocument {
    /// The database of a document.
    public struct Layout: Equatable, Sendable {
        /// The services. Each names its handle.
        public var definitions: [GATTServiceDefinition] = []
        /// Their handles.
        public var handles: [GATTServiceHandles] = []
        /// What is notified, with the handles of the characteristics' values, in the order of their times.
        public var notifications: [ScheduledNotification] = []

        /// The characteristic with its value at a handle.
        public func characteristic(at value: AttributeHandle) -> GATTCharacteristicDefinition? {
            for (definition, handles) in zip(definitions, handles) {
                guard let index = handles.characteristics.firstIndex(where: { $0.value == value }) else { continue }
                return definition.characteristics[index]
            }
            return nil
        }
    }

    /// Whether the document is the whole database: it names a handle, or has a Generic Access or Generic Attribute service.
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

    /// Lays the database out: the services follow each other from handle 1 on, but for the handles that the document names.
    ///
    /// - Throws: which handle clashes or is out of order, and what names nothing.
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
            // Of the two, the one that comes later in the document is to blame.
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
                    // Where nobody can subscribe, the connection is all there is.
                    origin: definition.unconditional.isEmpty ? notification.origin : .connection,
                    octets: notification.octets, isIndication: notification.isIndication))
        }
        return scheduled.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
            .map(\.element)
    }
}

extension DeviceDocument.Layout {
    /// The declaration of the service that an include names.
    fileprivate func declaration(of target: DeviceDocument.Include.Target) -> AttributeHandle? {
        switch target {
        case .handle(let handle): handles.first { $0.declaration == handle }?.declaration
        case .uuid(let uuid): definitions.first { $0.uuid == uuid }?.handle
        }
    }

    /// The value of the first characteristic of a UUID.
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
