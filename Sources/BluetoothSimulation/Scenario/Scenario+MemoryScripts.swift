import BluetoothBase

/// The scripts of episodes about the state that devices keep of each other.
extension Scenario.Script {
    mutating func writePlannedUse() {
        does(1, .discover, at: 1_900)
        repeats(9, from: 4_500, every: 2_700) { script, time in
            script.does(0, .publish, at: time)
            let change = time + 1_000 + script.generator.below(500)
            script.repeats(4, from: change - 300, every: 90) { $0.does(1, .planUse, at: $1) }
            script.does(0, .withdraw, at: change)
        }
    }

    mutating func writeRenewedKeys() {
        pair()
        repeats(3, from: 5_500, every: 8_000) { script, time in
            script.does(script.generator.below(2), .renewKeys, at: time)
            script.does(1, .disconnectAll, at: time + 2_500)
            script.does(1, .connect, at: time + 2_800)
            script.does(1, .readLocked, at: time + 3_700)
            script.does(0, .disconnectAll, at: time + 4_200)
            // Then the roles change: the server connects to the client.
            script.does(1, .advertiseOften, at: time + 4_300)
            script.does(0, .connect, at: time + 4_500)
            script.does(0, .readLocked, at: time + 5_500)
            script.does(0, .disconnectAll, at: time + 6_000)
            script.does(0, .advertiseOften, at: time + 6_100)
            script.does(1, .connect, at: time + 6_300)
        }
    }

    mutating func writeKeptSubscriptions() {
        pair()
        does(1, .discover, at: 4_500)
        does(1, generator.oneIn(2) ? .subscribeToStream : .subscribeForIndications, at: 5_500)
        does(1, .subscribeToCard, at: 5_700)
        repeats(4, from: 8_000, every: 5_200) { script, time in
            script.does(1, .disconnectAll, at: time)
            if script.generator.oneIn(2) {
                let device = script.generator.below(2)
                script.fault(.restart, device, at: time + 500, for: 100 + script.generator.below(500))
                script.does(device, .beWillingAgent, at: time + 1_300)
            }
            script.does(0, .advertiseOften, at: time + 1_400)
            script.does(1, .connect, at: time + 1_700)
            script.does(1, .connect, at: time + 2_400)
            script.does(0, .notify, at: time + 4_000)
            script.does(0, .indicate, at: time + 4_200)
        }
    }

    mutating func writeSurveys() {
        does(0, .advertiseOften, at: 200)
        repeats(10, from: 1_000, every: 2_800) { script, time in
            if script.generator.oneIn(2) { script.does(0, .changeOnNextLink, at: time) }
            script.does(1, .survey, at: time + 10)
            script.does(1, .disconnectAll, at: time + 2_300)
        }
    }

    mutating func writePrivateAddresses() {
        for device in [0, 2, 3] { does(device, .advertiseOften, at: 200 + 40 * device) }
        for device in 0..<4 { does(device, .beWillingAgent, at: 100 + 20 * device) }
        does(1, .listen, at: 500)
        repeats(14, from: 800, every: 2_000) { script, time in
            script.does(1, .meet, at: time)
            script.does(1, .pairWithStrangers, at: time + 700)
            if time > 9_000, script.generator.oneIn(2) {
                script.does(script.generator.oneIn(4) ? 0 : 1, .removeBond, at: time + script.generator.below(2_000))
            }
            script.does(1, .disconnectAll, at: time + 1_800)
        }
        let kinds: [Scenario.Fault.Kind] = [.restart, .dropLinks, .outOfRange, .hardwareError, .stall]
        guard generator.oneIn(3) else { return }
        fault(
            kinds[generator.below(kinds.count)], generator.below(4), at: 8_000 + generator.below(18_000),
            for: 100 + generator.below(2_000))
    }
}
