import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothUsers

/// Operations that wait inside an application, as those of `CoreBluetooth` do. They are planned with a valid handle,
/// and submitted when the peer's services may have changed.
extension UserDiscovery {
    /// Plans to read a value of the peer's services, and submits the read after a short delay.
    func planUse(of peersLink: UserLink, _ pick: inout SeededGenerator) {
        let link = peersLink.identifier
        guard let handle = pick.element(of: plannable(peersLink)) else { return }
        let known = knownChanges(on: link)
        let isLong = pick.oneIn(4)
        let delay = Duration.milliseconds(pick.below(400))
        context.schedule(after: delay) { [self] in
            guard isAttached, links[link] != nil else { return }
            var call = CallLedger.Call(kind: isLong ? .readLong : .read, link: link, handle: handle)
            call.isOutdated = hasChanged(handle, since: known, on: link)
            post(.perform(link, isLong ? .readLong(handle, offset: 0) : .read(handle)), call, knownChanges: known)
        }
    }

    /// Handles of values that the peer has now: those of passing services, and discovered ones.
    private func plannable(_ link: UserLink) -> [AttributeHandle] {
        let passing = run.users[link.peer].compactMap { $0 as? CallUser }.flatMap(\.parts.services.passing)
            .flatMap(\.characteristics).map(\.value)
        let found = [SimulatedService.Characteristic.constant, .dynamic].compactMap {
            handles(of: $0, on: link.identifier)?.lowerBound
        }
        // Passing services matter most here.
        return passing + passing + found
    }

    /// Checks that an operation with a handle from before a reported change is not performed.
    func checkOutdated(_ call: CallLedger.Call, _ result: Result<CallResult, HostError>) {
        guard call.isOutdated else { return }
        switch result {
        case .success, .failure(.client):
            fail(.expected, "\(call.kind.rawValue) with a handle from before a reported change ended with \(result)")
        case .failure: return
        }
    }
}
