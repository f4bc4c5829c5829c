import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothUsers

/// The services that a user publishes: the service of its station, and passing ones.
final class UserServices: UserPart {
    let context: UserContext
    /// The handles of the passing services that the user has published.
    private(set) var passing: [GATTServiceHandles] = []
    /// The time at which the user last published or withdrew a service.
    private(set) var changedAt: Instant?
    /// The delay from the beginning of the next link to a change of the services, and whether that change must be
    /// undone.
    private var changeDelay: Duration?
    private var isChangedForLink = false

    init(_ context: UserContext) { self.context = context }

    // MARK: - Lifetime

    /// The user has joined.
    func publishAll() {
        guard isPublisher else { return }
        publish(SimulatedService.definition(of: station))
        if run.scenario.hasHardship {
            post(
                .publish(SimulatedService.configurableDefinition, at: nil),
                CallLedger.Call(kind: .publish, isConfigurable: true))
        }
    }

    /// The user has left, which withdraws its services.
    func removeAll() {
        if !passing.isEmpty { run.passingChanges[station] = now }
        passing = []
        (changeDelay, isChangedForLink) = (nil, false)
    }

    // MARK: - Turns

    private func publish(_ definition: GATTServiceDefinition) {
        post(.publish(definition, at: nil), CallLedger.Call(kind: .publish))
    }

    func publishAnother() { if passing.count < 3 { publishPassing() } }

    private func publishPassing() {
        run.passingChanges[station] = now
        publish(SimulatedService.passingDefinition)
    }

    func withdrawPassing() {
        guard let service = passing.popLast() else { return }
        run.passingChanges[station] = now
        post(.withdraw(service.declaration), CallLedger.Call(kind: .withdraw))
    }

    /// Changes the services for the duration of the next link, soon after it begins.
    func changeOnNextLink(_ pick: inout SeededGenerator) { changeDelay = .milliseconds(pick.below(250)) }

    // MARK: - Events

    func linkBegan(_ link: UserLink) {
        guard let delay = changeDelay, link.information.role == .peripheral else { return }
        changeDelay = nil
        context.schedule(after: delay) { [self] in
            guard isAttached, links[link.identifier] != nil else { return }
            isChangedForLink = true
            publishPassing()
        }
    }

    /// Undoes the change when the link has ended.
    func linkEnded() {
        guard isChangedForLink else { return }
        isChangedForLink = false
        // The service that was added last may not have its handles yet.
        context.schedule(after: .milliseconds(1)) { [self] in
            if isAttached { withdrawPassing() }
        }
    }

    func published(_ handles: GATTServiceHandles, isConfigurable: Bool) {
        if isConfigurable {
            run.publishedConfigurable(handles, at: station)
            changedAt = now
            return
        }
        run.serviceChangeCount += 1
        changedAt = now
        if isPublisher, run.services[station] == nil {
            run.published(handles, at: station)
        } else {
            passing.append(handles)
            run.passingChanges[station] = now
        }
    }

    func withdrawn() {
        run.serviceChangeCount += 1
        changedAt = now
        run.passingChanges[station] = now
    }
}
