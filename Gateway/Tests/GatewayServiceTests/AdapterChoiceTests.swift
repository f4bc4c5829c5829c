import Testing
@testable import GatewayService

/// The adapters that connect to devices.
@Suite struct AdapterChoiceTests {
    /// The signal strengths of a device at two adapters, and the uses of these adapters after 20 connections.
    static let choices: [(signals: [Int8?], uses: [Int])] = [
        ([-50, -50], [10, 10]), ([-50, -53], [11, 9]), ([-53, -50], [10, 10]),
        // The difference is as much as the uses of an adapter can count.
        ([-50, -65], [20, 0]), ([-128, -50], [0, 20]),
        // An adapter that has not heard the device may be out of its range.
        ([-90, nil], [20, 0]), ([nil, -128], [0, 20]), ([nil, nil], [10, 10]), ([-50], [20]),
    ]

    @Test("Adapters that hear a device about equally well share the connections", arguments: choices)
    func sharing(signals: [Int8?], uses: [Int]) {
        let candidates = signals.enumerated().map { AdapterChoice.Candidate(name: "hci\($0)", rssi: $1) }
        var choice = AdapterChoice(), found = signals.map { _ in 0 }
        for _ in 0..<20 {
            guard let index = choice.choose(among: candidates) else { continue }
            found[index] += 1
        }
        #expect(found == uses)
    }

    @Test("An adapter that is plugged in later does not take over every connection")
    func pluggedInLater() {
        var choice = AdapterChoice()
        let old = AdapterChoice.Candidate(name: "hci0", rssi: -50)
        for _ in 0..<1000 { _ = choice.choose(among: [old]) }
        #expect(choice.choose(among: [old, AdapterChoice.Candidate(name: "hci1", rssi: -70)]) == 0)
        #expect(choice.choose(among: [old, AdapterChoice.Candidate(name: "hci1", rssi: -60)]) == 1)
    }

    @Test("Without adapters there is nothing to choose from")
    func nothing() {
        var choice = AdapterChoice()
        #expect(choice.choose(among: []) == nil)
    }
}
