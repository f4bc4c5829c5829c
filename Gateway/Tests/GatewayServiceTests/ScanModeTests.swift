import GatewayESPHome
import Testing
@testable import GatewayService

/// How adapters scan.
@Suite struct ScanModeTests {
    static let first = ProxyClientID(number: 1), second = ProxyClientID(number: 2)

    @Test(arguments: [true, false]) func wishes(configured: Bool) {
        let mode = ScanMode(isActive: configured)
        #expect(mode.isActive == configured)
        mode.wish(!configured, by: Self.first)
        #expect(mode.isActive == !configured)
        #expect(mode.isActiveByConfiguration == configured)
        mode.wish(nil, by: Self.first)
        #expect(mode.isActive == configured)
    }

    typealias Wish = (client: ProxyClientID, isActive: Bool?)
    /// Requests of two clients, and the mode after each of them. Active scanning is configured.
    static let sequences: [([Wish], [Bool])] = [
        ([(first, false), (second, false), (first, nil), (second, nil)], [false, false, false, true]),
        ([(first, false), (second, true), (second, nil), (first, nil)], [false, true, false, true]),
        ([(first, false), (second, true), (first, nil), (second, nil)], [false, true, true, true]),
        ([(first, false), (second, true), (first, false), (first, nil)], [false, true, false, true]),
        ([(second, nil), (first, false), (second, nil)], [true, false, false]),
    ]

    @Test("The latest request applies, and withdrawing it leaves those of other clients", arguments: sequences)
    func severalClients(wishes: [Wish], modes: [Bool]) {
        let mode = ScanMode(isActive: true)
        let found = wishes.map { wish in
            mode.wish(wish.isActive, by: wish.client)
            return mode.isActive
        }
        #expect(found == modes)
    }
}
