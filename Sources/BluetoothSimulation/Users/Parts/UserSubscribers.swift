import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// The peers' subscriptions to this user's service, as its host reports them, including those that a bonded client
/// keeps between links (Core 5.4, Vol 3, Part G, 2.4).
final class UserSubscribers: UserPart {
    let context: UserContext
    private var subscribers: [LinkIdentifier: Subscriber] = [:]

    private struct Subscriber {
        var configurations: [SimulatedService.Characteristic: GATTClientConfiguration] = [:]
        /// The characteristics whose subscriptions were reported on this link, and those whose subscriptions have
        /// ended, with the batch of events and the old configuration.
        var reported: Set<SimulatedService.Characteristic> = []
        var ended: [SimulatedService.Characteristic: (batch: Int, old: GATTClientConfiguration)] = [:]
        /// The characteristics whose subscriptions a bonded peer keeps from an earlier link, and has not written on
        /// this one.
        var restored: Set<SimulatedService.Characteristic> = []
        /// The configuration that the peer last wrote without a subscription.
        var written: GATTClientConfiguration = []
    }

    init(_ context: UserContext) { self.context = context }

    /// The configuration of a characteristic by a peer; nil if the peer has not subscribed to it.
    func configuration(
        of characteristic: SimulatedService.Characteristic, on link: LinkIdentifier
    ) -> GATTClientConfiguration? {
        subscribers[link]?.configurations[characteristic]
    }

    /// The configuration that a peer last wrote without a subscription.
    func writtenConfiguration(on link: LinkIdentifier) -> GATTClientConfiguration { subscribers[link]?.written ?? [] }

    /// The user has left.
    func removeAll() { subscribers = [:] }

    // MARK: - Events

    /// Handles a reported subscription. Returns the characteristic whose stream of values starts over; nil if there is
    /// none.
    func changed(_ change: GATTSubscriptionChange, on link: LinkIdentifier) -> SimulatedService.Characteristic? {
        guard let userLink = links[link] else {
            fail(.linkEvents, "a subscription was reported on \(link), which does not exist")
            return nil
        }
        if change.old == change.new, !change.isRestored {
            fail(.subscriptions, "an unchanged subscription was reported: \(change.new)")
        }
        if run.configurables[station]?.characteristics.first?.value == change.characteristic {
            noteWritten(change, userLink)
            return nil
        }
        guard let characteristic = run.characteristic(of: change.characteristic, at: station) else { return nil }
        if characteristic == .locked, !change.new.isEmpty, !run.isEncrypted(station, userLink) {
            fail(.permission, "a peer subscribed to \(characteristic) without permission")
        }
        var subscriber = subscribers[link] ?? Subscriber()
        defer { subscribers[link] = subscriber }
        // A restored subscription starts over when the peer first writes it.
        let begins = subscriber.restored.remove(characteristic) != nil && !change.new.isEmpty
        if change.isRestored { subscriber.restored.insert(characteristic) }
        guard (begins ? [] : subscriber.configurations[characteristic] ?? []) == change.old else {
            fail(.subscriptions, "a change from \(change.old) was reported, which is not the previous subscription")
            return nil
        }
        subscriber.configurations[characteristic] = change.new.isEmpty ? nil : change.new
        if change.isRestored { checkRestored(change.new, of: characteristic, userLink) }
        subscriber.reported.insert(characteristic)
        if change.new.isEmpty { subscriber.ended[characteristic] = (context.batch, change.old) }
        return characteristic
    }

    /// The peer has written a configuration without a subscription.
    private func noteWritten(_ change: GATTSubscriptionChange, _ link: UserLink) {
        let written = writtenConfiguration(on: link.identifier)
        if written != change.old, !run.pairings.isEverBonded(station, link.peer) {
            fail(.subscriptions, "a change from \(change.old) was reported, but the subscription was \(written)")
        }
        subscribers[link.identifier, default: Subscriber()].written = change.new
    }

    /// Checks that subscriptions end before their link does.
    func checkEnded(on link: LinkIdentifier) {
        guard subscribers[link]?.configurations.isEmpty == false else { return }
        fail(.subscriptions, "a link ended, but its peer's subscriptions did not")
    }

    /// Keeps the subscriptions of a link that has ended.
    func linkEnded(_ link: UserLink) {
        guard let subscriber = subscribers.removeValue(forKey: link.identifier) else { return keep([:], link) }
        var kept = subscriber.configurations
        // The subscriptions end first, in the same batch of events.
        for (characteristic, end) in subscriber.ended where end.batch == context.batch {
            kept[characteristic] = end.old
        }
        keep(kept, link)
    }

    private func keep(
        _ configurations: [SimulatedService.Characteristic: GATTClientConfiguration], _ link: UserLink
    ) {
        guard isPublisher, run.hasSecurity else { return }
        // A configuration written over an unencrypted link is not trustworthy, and not kept.
        guard link.information.security.isEncrypted, link.information.security.isBonded else { return }
        noteKept(configurations, link.peer)
    }

    /// Keeps the configurations that exist at the end of a pairing.
    func keepOfPairing(_ link: UserLink) {
        if isPublisher { noteKept(subscribers[link.identifier]?.configurations ?? [:], link.peer) }
    }

    private func noteKept(
        _ configurations: [SimulatedService.Characteristic: GATTClientConfiguration], _ peer: Int
    ) {
        var kept: [AttributeHandle: GATTClientConfiguration] = [:]
        for (characteristic, configuration) in configurations {
            if let handle = run.handle(of: characteristic, at: station) { kept[handle] = configuration }
        }
        run.keptSubscriptions[.init(station: station, peer: peer)] = kept
    }

    // MARK: - Checks

    /// Checks a link to a bonded client once it is encrypted: each kept subscription must have been reported or
    /// overwritten.
    func checkRestored(_ link: UserLink) {
        guard isPublisher, !run.isDamaged(station), !run.isTainted(link.peer),
            let beginning = run.pairings.linkBeginning(station, link.peer), context.joinedAt < beginning
        else { return }
        let reported = subscribers[link.identifier]?.reported ?? []
        for kept in run.kept(by: station, of: link.peer, since: beginning) {
            guard !reported.contains(kept.characteristic) else { continue }
            fail(
                .subscriptions,
                "\(kept.configuration) of \(kept.characteristic), which a bonded client configured, was not restored"
            )
        }
    }

    /// Checks a restored subscription against the one that was kept.
    private func checkRestored(
        _ configuration: GATTClientConfiguration, of what: SimulatedService.Characteristic, _ link: UserLink
    ) {
        guard isPublisher, !run.isDamaged(station), !run.isTainted(link.peer),
            let kept = run.kept(by: station, of: link.peer, since: now).first(where: { $0.characteristic == what }),
            kept.configuration != configuration
        else { return }
        fail(
            .subscriptions,
            "\(what) was restored as \(configuration), but a bonded client configured \(kept.configuration)")
    }
}
