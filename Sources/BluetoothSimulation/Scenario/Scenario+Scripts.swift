import BluetoothBase

/// The scripts of the episodes. Device 0 is the server and advertises. Device 1 is the client and connects.
extension Scenario.Script {
    typealias Step = Scenario.Action.Step

    mutating func write(_ episode: Scenario.Episode) {
        switch episode {
        case .visits: return writeVisits()
        case .slowCommands: return writeSlowCommands()
        case .vanishingServices: return writeVanishingServices()
        case .surveys, .privateAddresses: break
        default: begin()
        }
        switch episode {
        case .visits, .slowCommands, .vanishingServices: return
        case .lossyValues: writeValues(.lostFragments)
        case .overlongFrames: writeValues(.overlongFragments)
        case .impatience:
            does(0, .answerLate, at: 1_500)
            fault(.excess, 0, at: 3_000, for: 20_000)
            repeats(12, from: 3_000, every: 1_800) { $0.does(1, .useDynamic, at: $1) }
        case .longAnswers:
            fault(.excess, 1, at: 4_000, for: 20_000)
            repeats(20, from: 3_000, every: 1_000) { $0.does(1, .readMuch, at: $1) }
        case .lostUpdates:
            fault(.lostUpdates, generator.below(2), at: 3_000, for: 24_000)
            repeats(4, from: 4_000, every: 6_000) { $0.does($0.generator.below(2), .updateParameters, at: $1) }
        case .manyIndications:
            does(1, .subscribeForIndications, at: 2_500)
            does(0, .indicateMany, at: 4_000 + generator.below(2_000))
            does(0, .disconnectAll, at: 8_000)
        case .indicatedChanges: writeIndicatedChanges()
        case .changingServices: writeChangingServices()
        case .followers: writeFollowers()
        case .endsWhilePairing: writeEndsWhilePairing()
        case .askingAgain: writeAskingAgain()
        case .unusedAdapter: writeUnusedAdapter()
        case .otherKeys: writeOtherKeys()
        case .lostBonds: writeLostBonds()
        case .agentLeaves: writeAgentLeaves()
        case .plannedUse: writePlannedUse()
        case .renewedKeys: writeRenewedKeys()
        case .keptSubscriptions: writeKeptSubscriptions()
        case .surveys: writeSurveys()
        case .privateAddresses: writePrivateAddresses()
        }
    }

    // MARK: - Links

    /// Connects the two devices within a second or two.
    private mutating func begin() {
        does(0, .advertiseOften, at: 200)
        does(1, .connect, at: 500)
        does(1, .connect, at: 1_300)
    }

    private mutating func writeVisits() {
        does(0, .advertiseOften, at: 200)
        repeats(6, from: 1_000, every: 4_000) { $0.does(1, .visit, at: $1) }
    }

    /// The second user of the server continues to advertise.
    private mutating func writeVanishingServices() {
        does(0, .advertiseOften, user: 1, at: 200)
        repeats(4, from: 500, every: 7_000) { script, time in
            script.does(1, .disconnectAll, at: time)
            script.does(0, .join, at: time + 200)
            script.does(1, .discoverAtOnce, at: time + 1_500)
        }
    }

    private mutating func writeSlowCommands() {
        does(0, .advertiseOften, at: 200)
        does(1, .connect, at: 500)
        does(2, .scan, at: 600)
        for round in 0..<4 {
            let time = 3_000 + 6_500 * round
            fault(.slowCommands, 0, at: time, for: 1_500)
            does(0, .updateParameters, at: time + 498)
            does(0, .disconnectAll, at: time + 500)
            fault(.dropLinks, 1, at: time + 505 + generator.below(60), for: 1)
            does(2, .connect, at: time + 510 + generator.below(150))
            // The last link stays, and is checked at the end.
            if round == 3 { break }
            does(2, .disconnectAll, at: time + 4_000)
            does(1, .connect, at: time + 4_200)
        }
    }

    // MARK: - Values

    private mutating func writeValues(_ kind: Scenario.Fault.Kind) {
        does(1, .discover, at: 1_900)
        does(1, .subscribeToStream, at: 2_200)
        does(1, .subscribeToCard, at: 2_400)
        fault(kind, 1, at: 7_000, for: 15_000)
        repeats(22, from: 3_500, every: 1_000) { script, time in
            script.does(0, .card, at: time)
            script.does(0, .notify, at: time + 400)
            // Responses are shorter than notified values.
            script.does(1, .read, at: time + 500)
        }
    }

    private mutating func writeIndicatedChanges() {
        does(1, .discover, at: 1_900)
        does(1, .subscribeForIndications, at: 3_000)
        repeats(8, from: 4_000, every: 2_000) { script, time in
            script.does(0, .publish, at: time)
            script.does(0, .indicate, at: time + script.generator.below(30))
            script.does(0, .withdraw, at: time + 1_000)
            script.does(0, .indicate, at: time + 1_000 + script.generator.below(30))
        }
        does(1, .discover, at: 20_500)
        if generator.oneIn(2) {
            fault(.unanswering, 1, at: 21_000, for: 8_500)
            does(0, .indicate, at: 22_000)
        } else {
            // The service is withdrawn while an indication is unconfirmed.
            does(0, .indicate, at: 23_000)
            does(0, .leaveNow, at: 23_001 + generator.below(25))
        }
    }

    private mutating func writeChangingServices() {
        does(1, .discover, at: 1_900)
        repeats(5, from: 4_000, every: 5_000) { script, time in
            script.does(1, .discover, user: script.generator.below(2), at: time)
            script.does(0, .leaveNow, at: time + 5 + script.generator.below(600))
            script.does(0, .join, at: time + 2_500)
            script.does(1, .connect, at: time + 3_000)
            script.does(0, .advertiseOften, at: time + 2_600)
        }
    }

    private mutating func writeFollowers() {
        does(1, .connect, user: 2, at: 1_500)
        does(1, .card, user: 2, at: 3_000)
        repeats(5, from: 4_500, every: 5_000) { script, time in
            script.does(1, .subscribeToCard, at: time)
            script.does(0, .card, at: time + 500)
            script.does(1, .unsubscribe, at: time + 550 + script.generator.below(400))
            let start = time + 560 + script.generator.below(500)
            script.does(1, .card, user: 2, at: start)
            script.does(0, .card, at: start + 1_500)
        }
    }

    // MARK: - Security

    /// Pairs the two devices within about four seconds.
    mutating func pair() {
        does(0, .beWillingAgent, at: 100)
        does(1, .beWillingAgent, at: 150)
        does(1, .pairNow, at: 2_000)
    }

    private mutating func writeEndsWhilePairing() {
        pair()
        repeats(3, from: 6_000, every: 7_500) { script, time in
            script.does(1, .disconnectAll, at: time)
            script.does(1, .connect, at: time + 500)
            let kinds: [Scenario.Fault.Kind] = [
                .ignoredCommands, .ignoredCommands, .hardwareError, .dropLinks, .unplug,
            ]
            let moments: [Scenario.Fault.Moment] = [.connection, .data, .data, .commandAnswer]
            script.fault(
                kinds[script.generator.below(kinds.count)], 1, at: time + 450,
                for: 500 + script.generator.below(2_500), moments[script.generator.below(moments.count)])
            script.repeats(3, from: time + 600, every: 150) { $0.does(0, .pairForAuthentication, at: $1) }
            script.does(1, .connect, at: time + 800)
        }
    }

    private mutating func writeAskingAgain() {
        does(0, .beWillingAgent, at: 100)
        does(1, .beWillingAgent, at: 150)
        fault(.lateCompletions, 1, at: 1_900, for: 25_000)
        repeats(4, from: 2_000, every: 6_000) { script, time in
            script.does(0, .pairAgain, at: time)
            script.does(1, .pairNow, at: time + 100)
            script.does(1, .removeBond, at: time + 4_500)
            script.does(0, .removeBond, at: time + 4_500)
            script.does(1, .disconnectAll, at: time + 4_800)
            script.does(1, .connect, at: time + 5_200)
        }
    }

    private mutating func writeUnusedAdapter() {
        pair()
        let start = 5_000 + generator.below(3_000), pause = 100 + generator.below(1_000)
        fault(.restart, 1, at: start, for: pause)
        does(1, .leaveNow, at: start + pause + 1 + generator.below(400))
    }

    private mutating func writeOtherKeys() {
        pair()
        does(1, .disconnectAll, at: 6_000)
        fault(.broken, 1, at: 6_200, for: 20_000)
        repeats(6, from: 7_000, every: 3_000) { script, time in
            script.does(1, .connect, at: time)
            script.does(1, .disconnectAll, at: time + 2_500)
        }
    }

    private mutating func writeLostBonds() {
        pair()
        let loser = generator.oneIn(4) ? 0 : 1
        repeats(3, from: 6_000, every: 7_500) { script, time in
            script.does(loser, .removeBond, at: time)
            script.does(1, .disconnectAll, at: time + 200)
            script.does(1, .connect, at: time + 800)
            script.does(1 - loser, .subscribeToStream, at: time + 2_500)
            script.repeats(3, from: time + 3_500, every: 600) { $0.does(loser, .notify, at: $1) }
        }
    }

    private mutating func writeAgentLeaves() {
        does(0, .beWillingAgent, at: 100)
        does(1, .beWillingAgent, at: 150)
        repeats(5, from: 2_500, every: 5_000) { script, time in
            script.does(1, .readLocked, at: time)
            script.does(1, .beAgentOnCall, at: time + 2 + script.generator.below(80))
            script.does(1, .removeBond, at: time + 3_500)
            script.does(0, .removeBond, at: time + 3_500)
            script.does(1, .disconnectAll, at: time + 3_600)
            script.does(1, .beWillingAgent, at: time + 4_000)
            script.does(1, .connect, at: time + 4_100)
        }
    }

    // MARK: - Writing

    mutating func does(_ device: Int, _ step: Step, user: Int = 0, at time: Int) {
        does(device, .step, user: user, at: time)
        actions[actions.count - 1].step = step
    }

    mutating func does(_ device: Int, _ kind: Scenario.Action.Kind, user: Int = 0, at time: Int) {
        let jitter = Duration.microseconds(generator.below(1_000))
        actions.append(
            Scenario.Action(kind, device, user, at: .milliseconds(min(time, 29_500)) + jitter, &generator))
    }

    mutating func fault(
        _ kind: Scenario.Fault.Kind, _ device: Int, at time: Int, for duration: Int,
        _ moment: Scenario.Fault.Moment? = nil
    ) {
        let start = min(time, 29_000)
        faults.append(
            Scenario.Fault(
                instant: Instant.zero.advanced(by: .milliseconds(start)), device: device, kind: kind,
                duration: .milliseconds(min(duration, 29_900 - start)), pick: generator.next(), moment: moment))
    }

    mutating func repeats(
        _ count: Int, from start: Int, every interval: Int, _ body: (inout Self, Int) -> Void
    ) {
        for number in 0..<count { body(&self, start + number * interval) }
    }
}
