import BluetoothBase
import BluetoothHost
import BluetoothSMP
import HCITransport

/// Loads the host's bonds from the store, and writes their changes.
extension RunnerCore {
    /// The host's configuration. A controller without a public address gets the static address that its bonds were made
    /// with.
    static func configuration(_ options: AdapterOptions, _ source: ControllerSource) -> HostConfiguration {
        var host = options.host
        host.storesBonds = options.bonds != nil
        guard host.staticAddress == nil, let store = options.bonds else { return host }
        do throws(BondStoreError) {
            host.staticAddress = try store.identity(for: source.key).flatMap {
                $0.address.randomKind == nil ? nil : $0.address
            }
        } catch {
            // If the system refuses access, it will refuse again once the controller is ready, and that error is
            // reported. If the controller is missing too, the missing controller matters more.
            if error.code == .system { return host }
            options.reportBonds(error)
        }
        return host
    }

    /// The controller is ready: restores the identity that this device used with it, and the bonds of that identity.
    mutating func restoreBonds(at now: Instant) {
        guard let store = options.bonds, let controller = shared.currentController(),
            let fresh = shared.currentIdentity()
        else { return }
        let key = recovery.source.key(of: controller)
        guard bondsRestoredFor != key else { return }
        bondsRestoredFor = key
        storedIdentity = nil
        do throws(BondStoreError) {
            var identity = fresh
            // An identity is stored together with its first bond. The identity of the current address wins over the one
            // stored for the controller: a static address may come from another controller, together with its bonds, or
            // an option may have changed this controller's address.
            let known = try store.identity(for: key)
            let ofAddress = try store.identities().first { $0.address.isSameDevice(as: fresh.address) }
            guard let kept = ofAddress ?? known else { return }
            identity.resolvingKey = kept.resolvingKey
            let bonds = try store.bonds(of: identity)
            if identity != known {
                bondWriting?.append(BondWrite(change: nil, local: identity, controller: key), at: now)
            }
            shared.setIdentity(identity, bonds: bonds, at: now)
        } catch {
            options.reportBonds(error)
        }
    }

    /// Creates the writer for bond changes; nil without a store.
    func makeBondWriting(_ turns: RunnerTurns) -> BondWriting? {
        guard let store = options.bonds else { return nil }
        if let simulated = options.simulatedWrites { return .turns(TimedBondWriter(store, draw: simulated)) }
        // On virtual time, no other thread may take part in a turn.
        if turns.isTurnedByPort { return .turns(TimedBondWriter(store) { SimulatedWrite(latency: .zero) }) }
        let waker = turns.waker
        return .thread(BondWriter(store) { waker.wake() })
    }

    /// Passes pending bond changes to the store.
    mutating func storeBonds(at now: Instant) {
        repeat {
            let haveFailed = writeBonds(at: now)
            // Without a separate thread, they may already be written.
            guard takeBondResults(at: now) || haveFailed else { return }
            shared.endTurn(at: now)
        } while shared.hasBondChanges
    }

    /// Processes the outcomes of bond changes. Returns false if no change has ended.
    @discardableResult
    mutating func takeBondResults(at now: Instant) -> Bool {
        let results = bondWriting?.takeResults(at: now) ?? []
        guard !results.isEmpty else { return false }
        for result in results { bondWritten(result, at: now) }
        // Changes that result from these outcomes must be written first.
        guard !shared.hasBondChanges, let identity = shared.currentIdentity() else { return true }
        for settled in bondWriting?.takeSettled() ?? [] where settled.local == identity {
            shared.bondSettled(of: settled.peer, stored: settled.bond, at: now)
        }
        return true
    }

    /// - Returns: whether changes have already failed.
    private mutating func writeBonds(at now: Instant) -> Bool {
        let changes = shared.takeBondChanges()
        guard bondWriting != nil else {
            if let error = missingBondStore.take() { options.reportBonds(error) }
            return false
        }
        guard let identity = shared.currentIdentity() else {
            // Without an identity, the bonds could not be found again.
            options.reportBonds(.noIdentity)
            for change in changes {
                shared.bondWritten(change, failure: .noIdentity, at: now)
                // If the removal of a bond failed, the bond still exists.
                if case .removed(let bond, .some) = change { shared.bondSettled(of: bond.peer, stored: bond, at: now) }
            }
            return true
        }
        // The store may not have the identity until a write has succeeded.
        let controller = storedIdentity == identity ? nil : bondsRestoredFor
        for change in changes {
            bondWriting?.append(BondWrite(change: change, local: identity, controller: controller), at: now)
        }
        return false
    }

    private mutating func bondWritten(_ result: BondWriteResult, at now: Instant) {
        if let error = result.error { options.reportBonds(error) } else { storedIdentity = result.write.local }
        if let change = result.write.change { shared.bondWritten(change, failure: result.error, at: now) }
    }

    // MARK: - Closing

    /// Passes the last bond changes to the store. Calls that wait for a change end here, because users must learn that
    /// the adapter is closed no matter how long the disk takes.
    mutating func handOverBonds(at now: Instant) {
        if bondWriting != nil, shared.hasBondChanges { _ = writeBonds(at: now) }
        takeBondResults(at: now)
        shared.abandonBondChanges()
    }

    /// Whether bond changes are still being written.
    var isWritingBonds: Bool { bondWriting.map { !$0.isIdle } ?? false }

    /// Reports failed bond changes that no user is waiting for.
    mutating func reportBondFailures(at now: Instant) {
        for result in bondWriting?.takeResults(at: now) ?? [] {
            if let error = result.error { options.reportBonds(error) }
        }
    }

    /// Stops writing. The change that is being written may still succeed.
    ///
    /// - Parameter isReported: false to simulate the end of the process, which reports nothing.
    mutating func abandonBonds(isReported: Bool = true) {
        let count = bondWriting?.abandon() ?? 0
        bondWriting = nil
        if count > 0, isReported { options.reportBonds(.abandoned(count: count)) }
    }
}

extension ControllerSource {
    /// The address that identifies a controller in the store regardless of its current address: its public address, or
    /// one derived from its transport.
    fileprivate func key(of controller: ControllerInformation) -> DeviceAddress {
        controller.publicAddress.value == 0 ? key : controller.publicAddress
    }

    /// The address that identifies a controller without a public address. It is derived from the name of the transport,
    /// and has a type that no identity address has.
    fileprivate var key: DeviceAddress {
        let name = if case .transport(let name, _) = self { "\(name)" } else { "port" }
        // FNV-1a. The two most significant bits are 0, which marks a non-resolvable private address.
        let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return DeviceAddress((hash ^ hash >> 46) & 0x3FFF_FFFF_FFFF, kind: .random)
    }
}
