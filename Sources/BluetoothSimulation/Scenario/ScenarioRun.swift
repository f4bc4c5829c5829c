import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import CoreBluetooth
import Logging
import VirtualRadio

/// A scenario being played in a world.
public final class ScenarioRun {
    /// The scenario that is played.
    public let scenario: Scenario
    /// The world in which it is played. Its time stays zero until `play()` is called.
    public let world: World
    var runners: [AdapterRunner] = []
    var users: [[any SimulatedUser]] = []
    /// The service of each station, while it is published.
    var services: [GATTServiceHandles?] = []
    /// The values that may be read of the characteristic `stored` of each station, while its service is published.
    var stored: [StoredValue?] = []
    /// For each station, the service whose Client Characteristic Configuration clients write directly.
    var configurables: [GATTServiceHandles?] = []
    /// The value last written to those subscriptions on each link; nil if it is unknown.
    var configurations: [Way: (handle: AttributeHandle, link: LinkIdentifier, value: GATTClientConfiguration?)] = [:]
    /// Links that users of a station have ended.
    var disconnects: Set<Way> = []
    /// The time at which a station last sent octets of a card to another.
    var lastOctets: [Way: Instant] = [:]
    /// Whether any user has answered a request late.
    var hasDawdled = false
    /// The configurations that each server must restore for each bonded client, by the handles of the values.
    var keptSubscriptions: [Way: [AttributeHandle: GATTClientConfiguration]] = [:]
    /// The time at which each station last published or withdrew a passing service, and at which its own service was
    /// published.
    var passingChanges: [Int: Instant] = [:], publications: [Int: Instant] = [:]
    /// The number of times the service of each station was published or withdrawn.
    private(set) var epochs: [Int] = []
    /// The handles at which the service of each station has been.
    private var places: [[GATTServiceHandles]] = []
    /// Streams in which values were cancelled.
    var brokenStreams: Set<UInt32> = []
    /// The number of cards that arrived, and the number of service changes.
    var cardCount = 0
    var serviceChangeCount = 0
    /// Stations that stopped receiving for a while, which also delays their answers.
    var hasHeld: Set<Int> = []
    /// The number of the last SDU that arrived, for each stream over an L2CAP channel.
    var channelArrivals: [UInt32: UInt32] = [:]
    /// Stations with a user that has closed an L2CAP channel to another.
    var channelClosers: Set<Way> = []
    private var lastNumber: UInt32 = 0
    /// The bonds, which outlive the processes of the stations; empty without security.
    var bondStores: [ObservedBondStore] = []
    /// The disks of stations whose bonds are written slowly.
    var disks: [Int: SimulatedDisk] = [:]
    /// The private addresses with which a station has had links. It may know peers by these names permanently.
    var linkedAddresses: [Int: Set<DeviceAddress>] = [:]
    let pairings = PairingModel()
    /// The number of calls by users whose processes have ended.
    var endedCallCount = 0
    private(set) var faultCount = 0
    /// The number of faults so far.
    var faults: Int { faultCount }
    private var faulty: Set<Int> = []
    /// Whether some host has missed reports from its controller.
    private var isMisled = false
    private var tainted: Set<Int> = []
    /// Stations that may not have received the last packets sent to them.
    private(set) var incomplete: Set<Int> = []

    /// The number of times the data of a user's periodic advertising was changed, and the number of times it was
    /// withdrawn or moved.
    var trainNumbers: [Train: Int] = [:], trainBreaks: [Train: Int] = [:]
    /// The periodic advertising that has or had subevents.
    var trainsWithSubevents: Set<Train> = []

    /// The time after the last fault by which everything must be as wanted: the longest timeout of ATT, and time to
    /// recover.
    static let restTime = Duration.seconds(45)
    /// The maximum number of additional seconds for data that is being sent over a slow link.
    private static let longestSending = 1_200
    /// The maximum number of additional seconds for changes of bonds that wait for a disk.
    private static let longestStoring = 600
    /// The maximum duration of a pairing that begins with the last answered request, if the peer does not respond.
    static let pairingTime = Duration.seconds(35)

    /// Creates a world with the devices of a scenario, and opens their adapters. Call `play()` to play the scenario.
    /// Actions and faults that `Scenario.validate()` rejects are skipped.
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
            // Hosts generate and resolve all addresses themselves.
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

    /// Starts or restarts the process of a station.
    func openAdapter(_ index: Int, again isAgain: Bool = false) -> AdapterRunner? {
        var host = HostConfiguration(seed: world.order.next())
        host.preferredMTU = scenario.devices[index].preferredMTU
        host.security = securityConfiguration(of: index)
        if let rotation = scenario.devices[index].addressRotation { host.privacy = .resolvable(rotation: rotation) }
        var options = AdapterOptions(host: host)
        options.bonds = bondStores.isEmpty ? nil : bondStores[index]
        options.simulatedWrites = addDisk(index)
        options.retriesOpening = isAgain
        let runner = try? AdapterRunner(world.station(index), options: options)
        if runner == nil {
            world.fail(.bounds, "no adapter could be opened, because the process has run out of file descriptors")
        }
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

    /// Plays the scenario to its end. Call this once.
    public func play() -> WorldReport {
        // Log messages of the APIs are not needed here.
        BluetoothEnvironment.with(logger: Self.silence) { playAll() }
    }

    private static let silence = Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() }

    private func playAll() -> WorldReport {
        // Breaks the reference cycle between the run and its users.
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
        guard users.indices.contains(action.device), users[action.device].indices.contains(action.user) else { return }
        world.schedule(at: action.instant) { [unowned self] in
            // The process may be restarting.
            guard users[action.device].indices.contains(action.user) else { return }
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
        // A scan without results is restarted once a minute, and may be off for a moment.
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

    /// Lets slow links finish. A mebibyte, or the data of many channels, takes longer than the rest time if the
    /// interval is long and packets are short. A transfer that is stuck keeps waiting, and the checks find it
    /// afterwards.
    private func waitForSlowLinks() {
        guard scenario.hasChannels || scenario.actions.contains(where: { $0.kind == .burst }) else { return }
        for _ in 0..<Self.longestSending {
            guard isSending else { return }
            world.run(for: .seconds(1))
        }
    }

    /// Lets slow disks finish. Several slow changes in a row take longer than the rest time. A change that never ends
    /// is found by the call that waits for it.
    private func waitForSlowDisks() {
        let isWaiting = { [self] in runners.indices.contains { !isDamaged($0) && isStoring($0) } }
        guard isWaiting() else { return }
        for _ in 0..<Self.longestStoring where isWaiting() { world.run(for: .seconds(1)) }
        // Links that had to wait for a bond are encrypted after it is stored.
        world.run(for: Self.restTime)
    }

    private var isSending: Bool {
        runners.indices.contains { index in
            guard !isDamaged(index) else { return false }
            return runners[index].occupancy.waitingFrames > 0
                || users[index].contains { ($0 as? CallUser)?.parts.channels.isSending == true }
        }
    }

    // MARK: - Shared state

    /// The direction from one station to another.
    struct Way: Hashable {
        var station: Int
        var peer: Int
    }

    func publishedConfigurable(_ handles: GATTServiceHandles, at station: Int) { configurables[station] = handles }

    /// Whether establishing a connection may fail more often than hosts retry it.
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

    /// Withdraws the service of a station after a delay.
    func withdraw(at station: Int, after pause: Duration) {
        world.schedule(at: world.now.advanced(by: pause)) { [unowned self] in
            // The process may be restarting.
            users[station].first?.leave()
        }
    }

    /// Whether the service of a station has always been at the same handles.
    func hasOnePlace(_ station: Int) -> Bool { places[station].count < 2 }

    /// The possible meanings of a handle. Values in transit belong to the handles that the service had when they were
    /// sent.
    func meanings(of handle: AttributeHandle, at station: Int) -> Set<SimulatedService.Characteristic> {
        Set(
            places[station].compactMap { handles in
                handles.characteristics.firstIndex { $0.value == handle }.flatMap(SimulatedService.Characteristic.init)
            })
    }

    /// Whether a fault has affected a station.
    func hasFaults(_ station: Int) -> Bool { faulty.contains(station) }

    /// Whether values from or to a station may have been changed, duplicated or lost in a way that no host can detect.
    func isTainted(_ station: Int) -> Bool {
        tainted.contains(station) || world.stations[station].wire.isTainted
    }

    /// The first station that may have used an address other than its own, if any.
    var anyTaintedStation: Int? { tainted.min() }

    /// Whether a host received false information, so that it may not reach the correct state.
    func isDamaged(_ station: Int) -> Bool { isMisled || tainted.contains(station) }

    // MARK: - Faults

    private func schedule(_ fault: Scenario.Fault) {
        guard runners.indices.contains(fault.device) else { return }
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
        // A peer may keep a link that the other host never learned of.
        case .damage, .silence:
            taint(fault.device)
            isMisled = true
        // The missing rest of a frame is noticed with the next frame, if there is one.
        case .lostFragments, .unanswering, .overlongFragments, .lostUpdates: incomplete.insert(fault.device)
        case .unplug, .hardwareError, .ignoredCommands, .weather, .clockJump, .stall, .dropLinks,
            .failingConnections, .outOfRange, .restart, .lostEnds, .wrongPeers, .slowCommands, .lateCompletions:
            break
        }
        if fault.kind == .clockJump { faulty.formUnion(runners.indices) } else { faulty.insert(fault.device) }
    }

    private func taint(_ station: Int) {
        tainted.insert(station)
        // Its peers receive the faulty packets.
        faulty.formUnion(runners.indices)
    }
}
