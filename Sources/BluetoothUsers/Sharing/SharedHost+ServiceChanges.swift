import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// Handles calls and operations whose attributes have changed since they were requested.
extension SharedHost {
    /// Whether a call concerns attributes that changed without its user's knowledge.
    func isOutdated(_ call: borrowing HostCall) -> Bool {
        guard let known = call.knownChanges, let link = call.kind.changeableLink, let slot = slot(of: link) else {
            return false
        }
        return links[slot.index].serviceChanges.contains(since: known) { [kind = call.kind] in kind.isOutdated(by: $0) }
    }

    /// Handles calls and operations on attributes within these handles, where the peer's services have changed. Waiting
    /// ones would reach other attributes, so they end. Of those in progress, discoveries start again, and a single
    /// write ends with the peer's response. All others end as well, because it is unknown whether the peer processed
    /// them before or after the change.
    mutating func invalidateOperations(in handles: ClosedRange<AttributeHandle>, _ slot: LinkSlot) {
        let (ended, values) = links[slot.index].scheduler.invalidate(in: handles)
        for user in values { links[slot.index].credits.giveBack(1, to: user) }
        for call in ended { end(call, .failure(.servicesChanged)) }
        let link = links[slot.index].identifier
        for pending in links[slot.index].scheduler.operations {
            let isDiscovery = pending.operation.discoveredHandles?.overlaps(handles) == true
            guard
                isDiscovery || pending.operation.isOutdated(by: handles)
                    || pending.purpose.isSubscription(in: handles)
            else { continue }
            switch pending.purpose {
            case .call where pending.operation.isOneWrite && host.isUnderWay(pending.identifier, on: link): continue
            // The host's own steps use the results anyway.
            case .readiness, .databaseHash: continue
            case .preparation where !isDiscovery: continue
            case .call, .subscription, .preparation: break
            }
            links[slot.index].scheduler.outdate(pending.identifier)
            // The subscription has ended, and the result of its operation must not be attributed to the next one.
            if isDiscovery, !pending.purpose.isSubscription(in: 0x0001...0xFFFF) { continue }
            host.cancel(pending.identifier, on: link)
        }
    }
}

extension PendingOperation.Purpose {
    /// Whether the operation is a step of a subscription to a characteristic within these handles.
    fileprivate func isSubscription(in handles: ClosedRange<AttributeHandle>) -> Bool {
        if case .subscription(let characteristic) = self { handles.contains(characteristic) } else { false }
    }
}

extension HostCall.Kind {
    /// The link, if the call concerns attributes of its peer.
    fileprivate var changeableLink: LinkIdentifier? {
        switch self {
        case .perform(let link, _), .write(let link, _, _), .writeSigned(let link, _, _),
            .writeWithoutResponse(let link, _, _), .subscribe(let link, _):
            link
        default: nil
        }
    }

    func isOutdated(by handles: ClosedRange<AttributeHandle>) -> Bool {
        switch self {
        case .perform(_, let operation): operation.isOutdated(by: handles)
        case .write(_, let handle, _), .writeSigned(_, let handle, _), .writeWithoutResponse(_, let handle, _):
            handles.contains(handle)
        case .subscribe(_, let request): handles.contains(request.characteristic)
        default: false
        }
    }
}

extension GATTClientOperation {
    /// The handles within which the operation discovers attributes; nil if it is not a discovery.
    var discoveredHandles: ClosedRange<AttributeHandle>? {
        switch self {
        case .discoverPrimaryServices, .discoverSecondaryServices, .discoverAll: 0x0001...0xFFFF
        case .discoverIncludedServices(let handles), .discoverCharacteristics(let handles, _),
            .discoverDescriptors(let handles):
            handles
        default: nil
        }
    }

    /// Whether the operation uses handles in this range, which were found before the services there changed.
    func isOutdated(by handles: ClosedRange<AttributeHandle>) -> Bool {
        switch self {
        case .exchangeMTU, .discoverPrimaryServices, .discoverSecondaryServices, .discoverAll: false
        case .discoverIncludedServices(let found), .discoverCharacteristics(let found, _),
            .discoverDescriptors(let found):
            // A discovery of everything finds what there is now.
            found != 0x0001...0xFFFF && found.overlaps(handles)
        // A read by UUID over all handles finds the attribute wherever it is.
        case .readByUUID(_, let found): found != 0x0001...0xFFFF && found.overlaps(handles)
        case .read(let handle), .readLong(let handle, _), .write(let handle, _), .writeLong(let handle, _, _),
            .configure(let handle, _):
            handles.contains(handle)
        case .readMultiple(let found), .readMultipleVariable(let found): found.contains { handles.contains($0) }
        case .writeReliably(let values, _): values.contains { handles.contains($0.handle) }
        }
    }

    /// Whether the operation is a write with a single request, which takes effect as soon as it is sent.
    fileprivate var isOneWrite: Bool {
        switch self {
        case .write, .configure: true
        default: false
        }
    }
}
