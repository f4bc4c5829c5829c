import BluetoothBase
import BluetoothHost
import BluetoothSMP

/// The bonds of the host, and the store that keeps them.
extension RunnerCore {
    /// A controller without an address gets the one that bonds were made with before.
    static func configuration(_ options: AdapterRunner.Options, _ source: ControllerSource) -> HostConfiguration {
        var host = options.host
        guard host.staticAddress == nil, let store = options.bonds else { return host }
        do throws(BondStoreError) {
            host.staticAddress = try store.identity(for: source.key).flatMap {
                $0.address.randomKind == nil ? nil : $0.address
            }
        } catch {
            // What the system refuses now it refuses again once the controller is ready, and is reported then: where there
            // is no controller either, that is what matters.
            if case .system = error { return host }
            options.reportBonds(error)
        }
        return host
    }

    /// The controller is ready: this device becomes who it was with this controller before, and knows whom it knew.
    mutating func restoreBonds(at now: Instant) {
        guard let store = options.bonds, let controller = shared.currentController(),
            let fresh = shared.currentIdentity()
        else { return }
        let key = recovery.source.key(of: controller)
        guard bondsRestoredFor != key else { return }
        bondsRestoredFor = key
        do throws(BondStoreError) {
            var identity = fresh
            // An identity is kept with its first bond. A static address may have been taken along from another controller, with
            // its bonds; or this controller has another address now, by an option.
            let known = try store.identity(for: key)
            let ofAddress = try store.identities().first { $0.address.isSameDevice(as: fresh.address) }
            guard let kept = ofAddress ?? known else { return }
            identity.resolvingKey = kept.resolvingKey
            if identity != known { try store.keep(identity, for: key) }
            shared.setIdentity(identity, bonds: try store.bonds(of: identity), at: now)
        } catch {
            options.reportBonds(error)
        }
    }

    /// Stores what has changed before it is reported: a bond that was reported survives a crash.
    mutating func storeBonds() {
        let changes = shared.takeBondChanges()
        guard !changes.isEmpty, let identity = shared.currentIdentity() else { return }
        guard let store = options.bonds else {
            if let error = missingBondStore.take() { options.reportBonds(error) }
            return
        }
        var isIdentityKept = false
        for change in changes {
            do throws(BondStoreError) {
                if !isIdentityKept, let key = bondsRestoredFor, try store.identity(for: key) != identity {
                    try store.keep(identity, for: key)
                }
                isIdentityKept = true
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

extension ControllerSource {
    /// What a controller is known by, whatever address it uses: its public address, or how it is reached.
    fileprivate func key(of controller: ControllerInformation) -> DeviceAddress {
        controller.publicAddress.value == 0 ? key : controller.publicAddress
    }

    /// What a controller that is reached in this way is known by, if it has no address: made of the name of the transport, and
    /// of a kind that no identity has.
    fileprivate var key: DeviceAddress {
        let name = if case .transport(let name, _) = self { "\(name)" } else { "port" }
        // FNV-1a. The two highest bits, which are 0, say that it is a non-resolvable private address.
        let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return DeviceAddress((hash ^ hash >> 46) & 0x3FFF_FFFF_FFFF, kind: .random)
    }
}
