import BluetoothHost

/// The concerns of a user, each with private state. Each part is given the other parts that it uses.
struct UserParts {
    let linkCalls: UserLinkCalls
    let attempts: UserAttempts
    let advertising: UserAdvertising
    let scanning: UserScanning
    let trains: UserTrains
    let services: UserServices
    let requests: UserRequests
    let subscribers: UserSubscribers
    let discovery: UserDiscovery
    let operations: UserOperations
    let sending: UserSending
    let values: UserValues
    let channels: UserChannels
    let agent: UserAgent
    let pairing: UserPairing
    let ends: UserEnds

    init(_ context: UserContext) {
        linkCalls = UserLinkCalls(context)
        attempts = UserAttempts(context, linkCalls: linkCalls)
        advertising = UserAdvertising(context)
        scanning = UserScanning(context)
        trains = UserTrains(context)
        services = UserServices(context)
        requests = UserRequests(context)
        subscribers = UserSubscribers(context)
        discovery = UserDiscovery(context, attempts: attempts, linkCalls: linkCalls)
        operations = UserOperations(context, discovery: discovery)
        sending = UserSending(context, discovery: discovery, subscribers: subscribers)
        values = UserValues(context, discovery: discovery, sending: sending)
        channels = UserChannels(context)
        agent = UserAgent(context)
        pairing = UserPairing(context, agent: agent, subscribers: subscribers)
        ends = UserEnds(context, channels: channels, pairing: pairing, sending: sending, trains: trains)
    }

    // MARK: - The life of a link

    func linkBegan(_ link: UserLink) {
        discovery.linkBegan(link)
        sending.linkBegan(link.identifier)
        values.linkBegan(link.identifier)
        scanning.checkName(link.information.peer, of: link.information.address)
        attempts.linkBegan(link)
        services.linkBegan(link)
    }

    /// A link ends, and has not been removed yet.
    func linkEnds(_ link: UserLink) {
        let identifier = link.identifier
        subscribers.checkEnded(on: identifier)
        channels.linkEnded(identifier)
        agent.linkEnded(identifier)
        pairing.linkEnded(identifier)
        requests.linkEnded(identifier)
        subscribers.linkEnded(link)
        discovery.linkEnded(identifier)
        sending.linkEnded(identifier)
        values.linkEnded(identifier)
    }

    /// The user has left, which ends its links and requests.
    func removeAll() {
        services.removeAll()
        trains.removeAll()
        requests.removeAll()
        pairing.removeAll()
        subscribers.removeAll()
        discovery.removeAll()
        sending.removeAll()
        values.removeAll()
    }
}
