import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import CoreBluetooth
import Logging
import VirtualRadio

/// A scenario as it is played in a world.
public final class ScenarioRun {
    public let scenario: Scenario
    public let world: World
    var runners: [AdapterRunner] = []
    var users: [[any SimulatedUser]] = []
    /// The service of each station, while it is published.
    var services: [GATTServiceHandles?] = []
    /// What may be read of the characteristic `stored` of each station, while its service is published.
    var stored: [StoredValue?] = []
    /// The service with the subscription that clients write by themselves, of each station.
    var configurables: [GATTServiceHandles?] = []
    /// What was last written to those subscriptions on each link; nil where that cannot be said.
    var configurations: [Way: (handle: AttributeHandle, link: LinkIdentifier, value: GATTClientConfiguration?)] = [:]
    /// Links that users of a station have ended.
    var disconnects: Set<Way> = []
    /// When a station has last sent octets of a card to another.
    var lastOctets: [Way: Instant] = [:]
    /// Whether somebody has answered late.
    var hasDawdled = false
    /// The configurations that each server has to restore for each bonded client, by the handles of the values.
    var keptSubscriptions: [Way: [AttributeHandle: GATTClientConfiguration]] = [:]
    /// When a service that comes and goes has last done so, of each station, and when its own service was published.
    var passingChanges: [Int: Instant] = [:], publications: [Int: Instant] = [:]
    /// How often the service of each station was published or withdrawn.
    private(set) var epochs: [Int] = []
    /// Where the service of each station has been.
    private var places: [[GATTServiceHandles]] = []
    /// Streams of which values were called off.
    var brokenStreams: Set<UInt32> = []
    /// How many cards arrived, and how often services changed.
    var cardCount = 0
    var serviceChangeCount = 0
    /// Stations that held back what they received, which holds up answers as well.
    var hasHeld: Set<Int> = []
    /// The number of the last SDU that has arrived, of each stream over an L2CAP channel.
    var channelArrivals: [UInt32: UInt32] = [:]
    /// Stations with a user that has closed an L2CAP channel to another.
    var channelClosers: Set<Way> = []
    private var lastNumber: UInt32 = 0
    /// What outlives the processes of the stations, and what is known of their pairings; none without security.
    var bondStores: [ObservedBondStore] = []
    /// The disks of stations whose bonds are written slowly.
    var disks: [Int: SimulatedDisk] = [:]
    /// The private addresses that a station has had links with, under whose names it may know them for good.
    var linkedAddresses: [Int: Set<DeviceAddress>] = [:]
    let pairings = PairingModel()
    /// Calls of users whose processes have ended.
    var endedCallCount = 0
    private(set) var faultCount = 0
    /// How many faults there were so far.
    var faults: Int { faultCount }
    private var faulty: Set<Int> = []
    /// Whether some host was not told of what its controller does.
    private var isMisled = false
    private var tainted: Set<Int> = []
    /// Stations that may not have received the last thing they were sent.
    private(set) var incomplete: Set<Int> = []

    /// How often the periodic advertising of a user has got other data, and how often it was to be found no longer, or elsewhere.
    var trainNumbers: [Train: Int] = [:], trainBreaks: [Train: Int] = [:]
    /// The periodic advertising that has, or has had, subevents.
    var trainsWithSubevents: Set<Train> = []

    /// How long after the last fault everything has to be as wanted: the longest time-out of ATT, and time to recover.
    static let restTime = Duration.seconds(45)
    /// How many seconds more what is being sent over a slow link may take.
    private static let longestSending = 1_200
    /// How many seconds more the changes of bonds that wait for a disk may take.
    private static let longestStoring = 600
    /// How long a pairing may take that begins when the last request is answered, with a peer that does not answer.
    static let pairingTime = Duration.seconds(35)

    public init(_ scenario: Scenario) {
        self.scenario = scenario
        world = World(seed: scenario.seed)
        if scenario.hasPrivateAddresses { world.privateAddresses = PrivateAddresses() }
        for device in scenario.devices { add(device) }
    }

    private func add(_ device: Scenario.Device) {
        let station = world.addStation {
            $0.aclDataLength = device.bufferLength
            $0.aclBufferCount = device.bufferCount
            $0.hasHostFlowControl = device.hasHostFlowControl
            $0.responseDelay = device.responseDelay
            $0.scansWhileConnecting = device.isSingleMinded != true
            $0.reusesHandles = device.changesHandles != true
            $0.hasExtendedAdvertising = device.hasExtendedAdvertising == true
            $0.hasPeriodicAdvertising = device.hasPeriodicAdvertising == true
            // Hosts resolve all addresses, and make all of theirs.
            if scenario.hasPrivateAddresses { $0.resolvingListSize = 0 }
        }
        if scenario.hasHardship { world.stations[station.index].pace = AdvertisingPace() }
        services.append(nil)
        stored.append(nil)
        configurables.append(nil)
        places.append([])
        epochs.append(0)
        addBondStore(station.index)
        guard let runner = openAdapter(station.index) else { return }
        runners.append(runner)
        users.append(device.users.enumerated().map { makeUser($1.face, station.index, $0) })
    }

    /// Starts the process of a station, or starts it again.
    func openAdapter(_ index: Int, again isAgain: Bool = false) -> AdapterRunner? {
        var host = HostConfiguration(seed: world.order.next())
        host.preferredMTU = scenario.devices[index].preferredMTU
        host.security = securityConfiguration(of: index)
        if let rotation = scenario.devices[index].addressRotation { host.privacy = .resolvable(rotation: rotation) }
        var options = AdapterRunner.Options(host: host)
        options.bonds = bondStores.isEmpty ? nil : bondStores[index]
        options.simulatedWrites = addDisk(index)
        options.retriesOpening = isAgain
        let runner = try? AdapterRunner(world.station(index), options: options)
        if runner == nil { world.fail(.bounds, "no adapter could be opened: the process lacks file descriptors") }
        return runner
    }

    func makeUser(_ face: Scenario.Face, _ station: Int, _ number: Int) -> any SimulatedUser {
        switch face {
        case .calls: CallUser(self, station: station, number: number)
        case .tasks: TaskUser(self, station: station, number: number)
        case .delegates: DelegateUser(self, station: station, number: number)
        }
    }

    // MARK: - Playing

    /// Plays the scenario to its end, once.
    public func play() -> WorldReport {
        // What a face writes for those who read its log is nothing to anybody here.
        BluetoothEnvironment.with(logger: Self.silence) { playAll() }
    }

    private static let silence = Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() }

    private func playAll() -> WorldReport {
        // The users hold this run, and this run holds them.
        defer {
            users = []
            runners = []
        }
        guard runners.count == scenario.devices.count else {
            world.end()
            return report
        }
        for users in users { users.first?.join() }
        for users in users { for user in users.dropFirst() { user.join() } }
        for action in scenario.actions { schedule(action) }
        for fault in scenario.faults { schedule(fault) }
        world.run(until: scenario.end)
        calm()
        world.run(for: Self.restTime)
        if hasSecurity { world.run(for: Self.pairingTime) }
        check()
        leave()
        world.end()
        return report
    }

    private func schedule(_ action: Scenario.Action) {
        guard action.device < users.count, action.user < users[action.device].count else { return }
        world.schedule(at: action.instant) { [unowned self] in
            // The process may be about to start again.
            guard action.user < users[action.device].count else { return }
            users[action.device][action.user].perform(action)
            checkBounds()
        }
    }

    private func calm() {
        world.calm()
        for users in users { for user in users { user.calm() } }
    }

    private func leave() {
        for users in users { for user in users { user.leave() } }
        world.run(for: .seconds(10))
        for (index, runner) in runners.enumerated() {
            if !isDamaged(index) { checkNothingIsLeft(index) }
            runner.close()
        }
        world.run(for: .seconds(1))
    }

    private func check() {
        checkBounds()
        examine()
        waitForSlowLinks()
        waitForSlowDisks()
        // A scan that brings nothing is restarted once a minute, and may be off for a moment.
        if !runners.indices.allSatisfy({ areWishesMet($0) && somethingWaits($0) == nil }) {
            world.run(for: .seconds(1))
        }
        for users in users { for user in users where !isDamaged(user.station) { user.checkQuiet() } }
        for index in runners.indices where !isDamaged(index) {
            checkWishes(index)
            checkNothingWaits(index)
            if hasSecurity { checkBonds(index) }
        }
    }

    /// A mebibyte, or what many channels have to send, takes longer than that where the interval is long and a packet short.
    /// What stands still goes on waiting, and is found then.
    private func waitForSlowLinks() {
        guard scenario.hasChannels || scenario.actions.contains(where: { $0.kind == .burst }) else { return }
        for _ in 0..<Self.longestSending {
            guard isSending else { return }
            world.run(for: .seconds(1))
        }
    }

    /// Several slow changes in a row take longer than the rest at the end. A change that never ends is found by the call that waits
    /// for it.
    private func waitForSlowDisks() {
        let isWaiting = { [self] in runners.indices.contains { !isDamaged($0) && isStoring($0) } }
        guard isWaiting() else { return }
        for _ in 0..<Self.longestStoring where isWaiting() { world.run(for: .seconds(1)) }
        // Links that had to wait for a bond are encrypted with it.
        world.run(for: Self.restTime)
    }

    private var isSending: Bool {
        runners.indices.contains { index in
            guard !isDamaged(index) else { return false }
            return runners[index].occupancy.waitingFrames > 0
                || users[index].contains { ($0 as? CallUser)?.parts.channels.isSending == true }
        }
    }

    // MARK: - What users share

    /// From one station to another.
    struct Way: Hashable {
        var station: Int
        var peer: Int
    }

    func publishedConfigurable(_ handles: GATTServiceHandles, at station: Int) { configurables[station] = handles }

    /// Whether a connection may fail to be established more often than hosts try it.
    var mayFailToConnect: Bool {
        scenario.faults.contains { ![.failingConnections, .lostFragments, .clockJump, .unanswering].contains($0.kind) }
    }

    func nextNumber() -> UInt32 {
        lastNumber += 1
        return lastNumber
    }

    func address(of station: Int) -> DeviceAddress { world.stations[station].address }

    func station(at address: DeviceAddress) -> Int? {
        world.stations.firstIndex { $0.address.value == address.value } ?? world.privateAddresses?.owner(of: address)
    }

    func handle(of characteristic: SimulatedService.Characteristic, at station: Int) -> AttributeHandle? {
        services[station]?.characteristics[characteristic.rawValue].value
    }

    func characteristic(of handle: AttributeHandle, at station: Int) -> SimulatedService.Characteristic? {
        services[station]?.characteristics.firstIndex { $0.value == handle }
            .flatMap(SimulatedService.Characteristic.init)
    }

    func published(_ handles: GATTServiceHandles, at station: Int) {
        services[station] = handles
        stored[station] = StoredValue(SimulatedService.initialValue(of: .stored, station))
        publications[station] = world.now
        epochs[station] += 1
        if !places[station].contains(handles) { places[station].append(handles) }
    }

    func withdrawn(at station: Int) {
        services[station] = nil
        publications[station] = nil
        stored[station] = nil
        epochs[station] += 1
    }

    /// Takes the service of a station away, after a while.
    func withdraw(at station: Int, after pause: Duration) {
        world.schedule(at: world.now.advanced(by: pause)) { [unowned self] in
            // The process may be about to start again.
            users[station].first?.leave()
        }
    }

    /// Whether the service of a station has always been at the same handles.
    func hasOnePlace(_ station: Int) -> Bool { places[station].count < 2 }

    /// What the values of a handle may be: those that are under way belong to where the service was when they were sent.
    func meanings(of handle: AttributeHandle, at station: Int) -> Set<SimulatedService.Characteristic> {
        Set(
            places[station].compactMap { handles in
                handles.characteristics.firstIndex { $0.value == handle }.flatMap(SimulatedService.Characteristic.init)
            })
    }

    /// Whether something has gone wrong at a station, or in the whole world.
    func hasFaults(_ station: Int) -> Bool { faulty.contains(station) }

    /// Whether values from or to a station may have been changed, doubled or lost where no host can notice.
    func isTainted(_ station: Int) -> Bool {
        tainted.contains(station) || world.stations[station].wire.isTainted
    }

    /// A station that may have used an address which is not its own.
    var anyTaintedStation: Int? { tainted.min() }

    /// Whether a host was told things that are not true, so that it need not end where it should.
    func isDamaged(_ station: Int) -> Bool { isMisled || tainted.contains(station) }

    // MARK: - Faults

    private func schedule(_ fault: Scenario.Fault) {
        guard fault.device < runners.count else { return }
        world.schedule(at: fault.instant) { [unowned self] in
            guard let moment = fault.moment else { return begin(fault) }
            world.stations[fault.device].traps.append((moment, { [unowned self] in begin(fault) }))
        }
    }

    private func begin(_ fault: Scenario.Fault) {
        faultCount += 1
        checkBounds()
        note(fault)
        if fault.kind == .restart { restart(fault.device, after: fault.duration) } else { world.begin(fault) }
    }

    private func note(_ fault: Scenario.Fault) {
        switch fault.kind {
        case .broken, .excess: taint(fault.device)
        // A peer may be left with a link that the other host never learnt of.
        case .damage, .silence:
            taint(fault.device)
            isMisled = true
        // The rest of a frame that never comes is noticed with the next one, if there is a next one.
        case .lostFragments, .unanswering, .overlongFragments, .lostUpdates: incomplete.insert(fault.device)
        case .unplug, .hardwareError, .ignoredCommands, .weather, .clockJump, .stall, .dropLinks,
            .failingConnections, .outOfRange, .restart, .lostEnds, .wrongPeers, .slowCommands, .lateCompletions:
            break
        }
        if fault.kind == .clockJump { faulty.formUnion(runners.indices) } else { faulty.insert(fault.device) }
    }

    private func taint(_ station: Int) {
        tainted.insert(station)
        // Its peers see what it sends.
        faulty.formUnion(runners.indices)
    }
}
