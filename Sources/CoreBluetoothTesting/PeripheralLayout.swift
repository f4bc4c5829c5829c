import BluetoothATT
import BluetoothGATT
import BluetoothLE
import CoreBluetooth

/// The services of a virtual peripheral, with their handles.
struct PeripheralLayout {
    /// A service, before and after it got its handles.
    struct Entry {
        /// Nil for the services that every device has, and for recorded ones.
        let service: VirtualService?
        let definition: GATTServiceDefinition
        let handles: GATTServiceHandles

        /// Whether a test can replace the service. Every device keeps Generic Access and Generic Attribute.
        var isReplaceable: Bool {
            service != nil || definition.uuid != .genericAccess && definition.uuid != .genericAttribute
        }
    }

    private(set) var entries: [Entry]
    /// The handle after the last one that was ever used.
    private var next: AttributeHandle

    /// Lays out the services of a device, after those that every device has.
    ///
    /// - Throws: `CBError(.invalidParameters)` if a service includes one that does not exist, or if there is no room.
    init(_ services: [VirtualService], name: String) throws {
        entries = []
        next = 1
        try append([.genericAccess(deviceName: name), .genericAttribute()].map { (nil, $0) })
        try append(services.map { ($0, $0.definition) })
    }

    /// A database that is already complete, such as a recorded one.
    init(_ definitions: [GATTServiceDefinition], _ handles: [GATTServiceHandles]) {
        entries = zip(definitions, handles).map { Entry(service: nil, definition: $0, handles: $1) }
        next = AttributeHandle((handles.map(\.end.rawValue).max() ?? 0) &+ 1)
    }

    /// The definitions, with their handles.
    var definitions: [GATTServiceDefinition] { entries.map(\.definition) }

    /// Replaces the services of the test. Those that are the same stay where they are; the others get handles that were
    /// not used before. Recorded services are always replaced.
    ///
    /// - Returns: the declarations of the services to withdraw, and the definitions of those to publish.
    mutating func replace(with services: [VirtualService]) throws -> (
        withdrawn: [AttributeHandle], published: [GATTServiceDefinition]
    ) {
        var kept: [Entry] = [], new: [VirtualService] = [], rest = entries.filter(\.isReplaceable)
        let isLinked = (services + rest.compactMap(\.service)).contains { !$0.includedServices.isEmpty }
        for service in services {
            // A service with included ones refers to their handles.
            let same = rest.firstIndex { !isLinked && $0.service?.definition == service.definition }
            if let same { kept.append(rest.remove(at: same)) } else { new.append(service) }
        }
        entries = entries.filter { !$0.isReplaceable } + kept
        let count = entries.count
        try append(new.map { ($0, $0.definition) })
        return (rest.map(\.handles.declaration), entries[count...].map(\.definition))
    }

    private mutating func append(_ added: [(service: VirtualService?, definition: GATTServiceDefinition)]) throws {
        do {
            var laidOut: [(service: VirtualService?, definition: GATTServiceDefinition, handles: GATTServiceHandles)] =
                []
            for (service, definition) in added {
                let handles = try definition.handles(from: next)
                var definition = definition
                definition.handle = handles.declaration
                laidOut.append((service, definition, handles))
                next = AttributeHandle(handles.end.rawValue &+ 1)
            }
            for index in laidOut.indices {
                laidOut[index].definition.includes = try (laidOut[index].service?.includedServices ?? []).map { uuid in
                    let all = laidOut.map { ($0.definition.uuid, $0.handles.declaration) }
                    guard let target = all.first(where: { $0.0 == uuid.bluetooth }) else {
                        throw CBError(.invalidParameters)
                    }
                    return target.1
                }
            }
            entries += laidOut.map { Entry(service: $0.service, definition: $0.definition, handles: $0.handles) }
        } catch {
            throw CBError(.invalidParameters)
        }
    }
}
