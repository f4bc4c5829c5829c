import BluetoothBase
import BluetoothHost
import BluetoothSMP

/// The bonds of the host, and the store that keeps them.
extension RunnerCore {
    /// The controller is ready: this device becomes who it was with this controller before, and knows whom it knew.
    mutating func restoreBonds(at now: Instant) {
        guard let store = options.bonds, let controller = shared.currentController(),
            let fresh = shared.currentIdentity()
        else { return }
        let key = controller.permanentAddress
        guard bondsRestoredFor != key else { return }
        bondsRestoredFor = key
        do throws(BondStoreError) {
            var identity = fresh
            // An identity is kept with its first bond. Its address may have changed since, with an option.
            guard let kept = try store.identity(for: key) else { return }
            identity.resolvingKey = kept.resolvingKey
            if identity != kept { try store.keep(identity, for: key) }
            shared.setIdentity(identity, bonds: try store.bonds(of: identity), at: now)
        } catch {
            options.reportBonds(error)
        }
    }

    /// Stores what has changed, before anybody is told of it: whoever knows of a bond finds it after a crash.
    mutating func storeBonds() {
        let changes = shared.takeBondChanges()
        guard !changes.isEmpty, let store = options.bonds, let identity = shared.currentIdentity() else { return }
        for change in changes {
            do throws(BondStoreError) {
                if let key = bondsRestoredFor, try store.identity(for: key) != identity {
                    try store.keep(identity, for: key)
                }
                switch change {
                case .kept(let bond): try store.save(bond, of: identity)
                case .removed(let bond): try store.remove(bond.peer, of: identity)
                }
            } catch {
                options.reportBonds(error)
            }
        }
    }
}

extension ControllerInformation {
    /// What a controller is known by, whatever address it uses.
    fileprivate var permanentAddress: DeviceAddress { publicAddress.value == 0 ? address : publicAddress }
}
