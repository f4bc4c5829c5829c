import BluetoothBase
import BluetoothHost
import BluetoothSMP
import HCITransport

/// The bonds of the host, and the store that keeps them.
extension RunnerCore {
    /// A controller without an address gets the one that bonds were made with before.
    static func configuration(_ options: AdapterRunner.Options, _ source: ControllerSource) -> HostConfiguration {
        var host = options.host
        host.storesBonds = options.bonds != nil
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
        storedIdentity = nil
        do throws(BondStoreError) {
            var identity = fresh
            // An identity is kept with its first bond. A static address may have been taken along from another controller, with
            // its bonds; or this controller has another address now, by an option.
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

    /// How changes of bonds get to the store; nil without one.
    func makeBondWriting(_ turns: RunnerTurns) -> BondWriting? {
        guard let store = options.bonds else { return nil }
        if let simulated = options.simulatedWrites { return .turns(TimedBondWriter(store, draw: simulated)) }
        // No other thread may take part in a turn that virtual time decides about.
        if turns.isTurnedByPort { return .turns(TimedBondWriter(store) { SimulatedWrite(latency: .zero) }) }
        let waker = turns.waker
        return .thread(BondWriter(store) { waker.wake() })
    }

    /// Hands changes to the store.
    mutating func storeBonds(at now: Instant) {
        repeat {
            let haveFailed = writeBonds(at: now)
            // Where there is no other thread, they may have been written already.
            guard takeBondResults(at: now) || haveFailed else { return }
            shared.endTurn(at: now)
        } while shared.hasBondChanges
    }

    /// Processes the outcomes of changes; false if there are no new ones.
    @discardableResult
    mutating func takeBondResults(at now: Instant) -> Bool {
        let results = bondWriting?.takeResults(at: now) ?? []
        guard !results.isEmpty else { return false }
        for result in results { bondWritten(result, at: now) }
        // Changes that follow from these results come first.
        guard !shared.hasBondChanges, let identity = shared.currentIdentity() else { return true }
        for settled in bondWriting?.takeSettled() ?? [] where settled.local == identity {
            shared.bondSettled(of: settled.peer, stored: settled.bond, at: now)
        }
        return true
    }

    /// - Returns: whether changes have failed already.
    private mutating func writeBonds(at now: Instant) -> Bool {
        let changes = shared.takeBondChanges()
        guard bondWriting != nil else {
            if let error = missingBondStore.take() { options.reportBonds(error) }
            return false
        }
        guard let identity = shared.currentIdentity() else {
            // Nobody could find them again.
            options.reportBonds(.noIdentity)
            for change in changes {
                shared.bondWritten(change, isStored: false, at: now)
                // A bond whose removal failed still exists.
                if case .removed(let bond, .some) = change { shared.bondSettled(of: bond.peer, stored: bond, at: now) }
            }
            return true
        }
        // Until something was stored the store may not know the identity.
        let controller = storedIdentity == identity ? nil : bondsRestoredFor
        for change in changes {
            bondWriting?.append(BondWrite(change: change, local: identity, controller: controller), at: now)
        }
        return false
    }

    private mutating func bondWritten(_ result: BondWriteResult, at now: Instant) {
        if let error = result.error { options.reportBonds(error) } else { storedIdentity = result.write.local }
        if let change = result.write.change { shared.bondWritten(change, isStored: result.error == nil, at: now) }
    }

    // MARK: - The end

    /// Hands the last changes to the store. Calls that wait for it end: users are notified that the adapter is closed, however
    /// long the disk takes.
    mutating func handOverBonds(at now: Instant) {
        if bondWriting != nil, shared.hasBondChanges { _ = writeBonds(at: now) }
        takeBondResults(at: now)
        shared.abandonBondChanges()
    }

    /// Whether changes are being written.
    var isWritingBonds: Bool { bondWriting.map { !$0.isIdle } ?? false }

    /// Processes the outcomes of changes for which no user waits any more.
    mutating func reportBondFailures(at now: Instant) {
        for result in bondWriting?.takeResults(at: now) ?? [] {
            if let error = result.error { options.reportBonds(error) }
        }
    }

    /// Stops writing. What is being written may succeed or not.
    ///
    /// - Parameter isReported: false for the end of the process, which reports nothing.
    mutating func abandonBonds(isReported: Bool = true) {
        let count = bondWriting?.abandon() ?? 0
        bondWriting = nil
        if count > 0, isReported { options.reportBonds(.abandoned(count)) }
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
