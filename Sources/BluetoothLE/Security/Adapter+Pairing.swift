import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import BluetoothSMP
import BluetoothUsers
import Synchronization

extension Adapter {
    /// Lets an agent answer for the person while `body` runs. One agent does that at a time: the last one.
    ///
    /// Without an agent no peer can pair with this device; `Connection.pair` still works, without protection against
    /// machines in the middle.
    ///
    ///     try await adapter.withPairingAgent(agent) {
    ///         let connection = try await adapter.connect(to: lock)
    ///         try await connection.pair()
    ///     }
    ///
    /// - Throws: what `body` throws, or why the adapter was closed.
    public func withPairingAgent<Outcome>(
        _ agent: some PairingAgent, _ body: () async throws -> Outcome
    ) async throws -> Outcome {
        let queue = AsyncQueue<PairingEvent>(capacity: 256, overflow: .grow)
        let description = PairingAgentDescription(
            ioCapability: agent.ioCapability, pairsOnDemand: agent.pairsOnDemand)
        router.state.withLock { state in
            state.pairing = queue
            state.outOfBandAgent = agent as? any OutOfBandPairing
        }
        defer {
            let isLast = router.state.withLock { state in
                guard state.pairing === queue else { return false }
                state.pairing = nil
                state.outOfBandAgent = nil
                return true
            }
            if isLast { router.post(.setPairingAgent(nil)) }
        }
        try await router.call(.setPairingAgent(description))
        let events = EventSequence(queue) {}
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await agent.handle(events, description) }
            defer { group.cancelAll() }
            return try await body()
        }
    }

    /// Makes the data of this device that a peer is to get by another way than Bluetooth, such as NFC or a printed code, for LE
    /// Secure Connections (Core 5.4, Vol 3, Part H, 2.3.5.6.4). Whoever has it can pair as the device that was meant: it is a
    /// secret. The next pairing with a peer that has it uses it up, and data made earlier is void.
    ///
    /// - Throws: `.notSupported` where the adapter does not pair.
    public func outOfBandData() async throws(BluetoothError) -> OutOfBandData {
        guard case .outOfBandData(let data) = try await router.call(.makeOutOfBandData) else {
            throw .adapterClosed
        }
        return data
    }

    /// The bonds with peers. Their text forms show no key.
    public var bonds: [Bond] {
        get async throws(BluetoothError) {
            guard case .bonds(let bonds) = try await router.call(.bonds) else { return [] }
            return bonds
        }
    }

    /// Forgets the keys of a peer. A link that is encrypted with them stays so until it ends.
    ///
    /// - Throws: `.notBonded`.
    public func removeBond(with peer: PeerID) async throws(BluetoothError) {
        try await router.call(.removeBond(peer))
    }
}

extension Adapter {
    /// Forgets what was discovered of a peer's services, on earlier connections and on this one, so that the next discovery asks
    /// the peer. Services that change do so by themselves: this is for peers that change theirs and do not tell, against Core
    /// 5.4, Vol 3, Part G, 2.5.2.
    public func forgetServices(of peer: PeerID) async throws(BluetoothError) {
        try await router.call(.forgetAttributes(peer))
    }
}

extension PairingAgent {
    /// Each event has a task of its own: while a person answers one peer, another may pair.
    fileprivate func handle(_ events: EventSequence<PairingEvent>, _ description: PairingAgentDescription) async {
        let parameters = PairingParameters(
            ioCapability: description.ioCapability, isBonding: description.isBonding, hasSentOutOfBandData: true)
        await withDiscardingTaskGroup { group in
            var iterator = events.makeAsyncIterator()
            while let event = try? await iterator.next() { group.addTask { await handle(event, parameters) } }
            group.cancelAll()
        }
    }

    private func handle(_ event: PairingEvent, _ parameters: PairingParameters) async {
        switch event {
        case .asked(let peer, let question):
            let answer = await answer(question, of: peer, parameters)
            peer.router.post(.answerPairing(peer.link.identifier, answer))
        case .shown(let peer, .passkey(let passkey)):
            await (self as? any PasskeyDisplay)?.show(passkey: passkey, for: peer)
        case .shown(_, .keypress): return
        case .ended(let peer, let result): await pairingEnded(with: peer, result)
        }
    }
}

extension Connection {
    /// How the link is protected now.
    public var security: LinkSecurity {
        get async throws(BluetoothError) {
            try router.check(link)
            return link.state.withLock { $0.security }
        }
    }

    /// Protects the link: encrypts it with the key of a bond, or pairs. The adapter's `PairingAgent` answers for the
    /// person.
    ///
    /// - Throws: `.pairingFailed`, `.disconnected`.
    public func pair(_ request: PairRequest = PairRequest()) async throws(BluetoothError) {
        try router.check(link)
        var request = request
        if request.peerOutOfBandData == nil, let agent = router.state.withLock({ $0.outOfBandAgent }) {
            request.peerOutOfBandData = await agent.outOfBandData(of: self)
        }
        try await router.call(.pair(link.identifier, request))
    }
}
