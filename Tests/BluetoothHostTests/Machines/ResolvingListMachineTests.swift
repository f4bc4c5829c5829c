import BluetoothBase
import BluetoothHCI
import BluetoothSMP
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("The resolving list state machine")
struct ResolvingListMachineTests {
    static let peers = (1...3).map {
        DeviceIdentity(address: DeviceAddress(UInt64($0), kind: .public), resolvingKey: UInt128($0))
    }
    static let entries = peers.map { ResolvingList.Entry($0, localIRK: 0xFF) }

    /// The settings of a host, and what its controller can do.
    struct Setting: Hashable, Sendable {
        var mode = PeerPrivacyMode.device
        var rotation: Duration?
        var capacity = 2
        var setsPrivacyMode = false
        var setsTimeout = false

        static var all: [Setting] {
            [PeerPrivacyMode.device, .network].flatMap { mode in
                [nil, Duration.seconds(900)].flatMap { rotation in
                    [0, 1, 2].flatMap { capacity in
                        [false, true].flatMap { setsMode in
                            [false, true].map { setsTimeout in
                                Setting(
                                    mode: mode, rotation: rotation, capacity: capacity, setsPrivacyMode: setsMode,
                                    setsTimeout: setsTimeout)
                            }
                        }
                    }
                }
            }
        }
    }

    enum Event: CaseIterable {
        case start, wantNone, wantFirst, wantTwo, wantOthers, advance, accepted, rejected, reset

        /// The entries that are wanted from then on, by their indices.
        var wanted: [Int]? {
            switch self {
            case .wantNone: []
            case .wantFirst: [0]
            case .wantTwo: [0, 1]
            case .wantOthers: [2, 0]
            case .start, .advance, .accepted, .rejected, .reset: nil
            }
        }
    }

    enum Command: Hashable {
        case add(Int), remove(Int), setMode(Int)
        case setTimeout, enable
    }

    /// The same in another way: marks for what is done, and the next command looked up each time.
    struct Model: Hashable {
        let setting: Setting
        var isUp = false
        var wanted: [Int] = []
        var listed: [Int] = []
        var capacity = 0
        var needsTimeout = false
        var needsMode: Int?
        var isEnabled = false
        var inFlight: Command?

        var next: Command? {
            guard isUp else { return nil }
            if let needsMode { return .setMode(needsMode) }
            let target = wanted.prefix(capacity)
            for index in listed where !target.contains(index) { return .remove(index) }
            for index in target where !listed.contains(index) { return .add(index) }
            if needsTimeout { return .setTimeout }
            return isEnabled || listed.isEmpty ? nil : .enable
        }

        /// - Returns: the command that is sent.
        mutating func apply(_ event: Event) -> Command? {
            if let entries = event.wanted { wanted = entries }
            switch event {
            case .start:
                guard !isUp else { return nil }
                (isUp, capacity) = (true, setting.capacity)
                needsTimeout = setting.rotation != nil && setting.setsTimeout && capacity > 0
            case .advance:
                guard inFlight == nil else { return nil }
                inFlight = next
                return inFlight
            case .accepted, .rejected: answered(event == .accepted)
            case .reset:
                let wanted = wanted
                self = Model(setting: setting)
                self.wanted = wanted
            case .wantNone, .wantFirst, .wantTwo, .wantOthers: break
            }
            return nil
        }

        private mutating func answered(_ isAccepted: Bool) {
            guard let command = inFlight else { return }
            inFlight = nil
            switch command {
            case .remove(let index): listed.removeAll { $0 == index }
            case .setMode: needsMode = nil
            case .setTimeout: needsTimeout = false
            case .add(let index):
                if isAccepted { listed.append(index) } else { capacity = min(capacity, listed.count) }
                if isAccepted, setting.setsPrivacyMode, setting.mode == .device { needsMode = index }
            case .enable:
                isEnabled = isAccepted
                if !isAccepted { (capacity, listed) = (0, []) }
            }
        }

        var phase: ResolvingList.PhaseName {
            guard isUp else { return .absent }
            switch inFlight {
            case nil: return next == nil ? .current : .due
            case .add: return .adding
            case .setMode: return .settingMode
            case .setTimeout: return .settingTimeout
            case .enable: return .enabling
            case .remove: return .removing
            }
        }
    }

    struct State: Hashable {
        var machine: ResolvingList
        var model: Model

        init(_ setting: Setting) {
            machine = ResolvingList(setting.mode, rotation: setting.rotation)
            model = Model(setting: setting)
        }
    }

    private func command(_ command: (any HCICommand)?) -> Command? {
        func index(_ address: DeviceAddress) -> Int { Int(address.value) - 1 }
        return switch command {
        case let command as LEAddDeviceToResolvingList: .add(index(command.peerIdentityAddress))
        case let command as LERemoveDeviceFromResolvingList: .remove(index(command.peerIdentityAddress))
        case let command as LESetPrivacyMode: .setMode(index(command.peerIdentityAddress))
        case is LESetResolvablePrivateAddressTimeout: .setTimeout
        case is LESetAddressResolutionEnable: .enable
        default: nil
        }
    }

    private func apply(_ event: Event, to machine: inout ResolvingList, _ setting: Setting) -> Command? {
        if let wanted = event.wanted { machine.want(wanted.map { Self.entries[$0] }) }
        switch event {
        case .start:
            machine.start(
                ResolvingList.Abilities(
                    capacity: setting.capacity, setsPrivacyMode: setting.setsPrivacyMode,
                    setsTimeout: setting.setsTimeout))
        case .advance: return command(machine.advance())
        case .accepted, .rejected: machine.answered(event == .accepted)
        case .reset: machine.reset()
        case .wantNone, .wantFirst, .wantTwo, .wantOthers: break
        }
        return nil
    }

    private func name(of event: Event) -> ResolvingList.EventName {
        switch event {
        case .start: .start
        case .wantNone, .wantFirst, .wantTwo, .wantOthers: .want
        case .advance: .advance
        case .accepted: .accepted
        case .rejected: .rejected
        case .reset: .reset
        }
    }

    @Test("Every event in every state matches the model and the transition table") func table() {
        var log = MachineTable<ResolvingList>()
        var phases: Set<ResolvingList.PhaseName> = []
        for setting in Setting.all {
            let states = explore(from: State(setting), Event.allCases) { before, event in
                var state = before
                let sent = apply(event, to: &state.machine, setting)
                let expected = state.model.apply(event)
                log.note(name(of: event), from: before.machine, to: state.machine, hasEffects: sent != nil)
                if sent != expected || !state.isConsistent {
                    Issue.record("\(event) in \(before.model) sent \(String(describing: sent))")
                }
                return state
            }
            phases.formUnion(states.map(\.machine.phaseName))
        }
        #expect(phases == Set(ResolvingList.PhaseName.allCases))
        log.expectTransitions()
    }

    @Test("A controller with more room gets no more than the maximum number of entries") func maximum() {
        var list = ResolvingList(.network, rotation: nil)
        list.want(
            (1...UInt64(ResolvingList.maximumEntries + 1)).map {
                let peer = DeviceIdentity(address: DeviceAddress($0, kind: .public), resolvingKey: UInt128($0))
                return ResolvingList.Entry(peer, localIRK: 1)
            })
        list.start(ResolvingList.Abilities(capacity: 255, setsPrivacyMode: true, setsTimeout: true))
        var count = 0
        while let command = list.advance() {
            if command is LEAddDeviceToResolvingList { count += 1 }
            list.answered(true)
        }
        #expect(count == ResolvingList.maximumEntries)
    }
}

extension ResolvingListMachineTests.State {
    /// Whether the machine's answers agree with the model.
    fileprivate var isConsistent: Bool {
        let listed = ResolvingListMachineTests.peers.indices.filter {
            machine.contains(ResolvingListMachineTests.peers[$0])
        }
        return machine.phaseName == model.phase && machine.isChanging == (model.inFlight != nil)
            && machine.isPending == (model.inFlight != nil || model.next != nil)
            && machine.isInUse == (model.isEnabled && !model.listed.isEmpty)
            && machine.hasPrivacyModes == (model.isUp && model.setting.setsPrivacyMode)
            && listed == (model.isEnabled ? model.listed.sorted() : [])
    }
}
