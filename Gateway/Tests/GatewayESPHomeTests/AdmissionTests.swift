import NIOCore
import Testing
@testable import GatewayESPHome

/// Which connections may stay, in virtual time.
@Suite struct AdmissionTests {
    private let start = ContinuousClock.now
    private func time(_ seconds: Double) -> ContinuousClock.Instant { start.advanced(by: .seconds(seconds)) }

    private func client(_ number: Int) -> ProxyClientID { ProxyClientID(number: UInt64(number)) }
    private func origin(_ number: Int) -> ClientOrigin { .ipv4(UInt32(number)) }

    /// Connections from one address that say nothing.
    private func fill(_ admission: inout Admission, _ numbers: Range<Int>, from address: Int) -> [ProxyClientID?] {
        numbers.map { number in
            guard case .admitted(let gone) = admission.begin(client(number), from: origin(address), at: start) else {
                return nil
            }
            return gone
        }
    }

    /// Clients that have said their hello.
    private func welcome(_ admission: inout Admission, _ numbers: Range<Int>, from address: Int) {
        for number in numbers {
            #expect(admission.begin(client(number), from: origin(address), at: start) == .admitted(inPlaceOf: nil))
            #expect(admission.finish(client(number)) == .admitted(inPlaceOf: nil))
        }
    }

    @Test func silentConnectionsOfOneAddressKeepNobodyElseOut() {
        var admission = Admission()
        // From the ninth on each takes the place of the oldest.
        let gone = fill(&admission, 0..<32, from: 1)
        #expect(gone == Array(repeating: nil, count: 8) + (0..<24).map { client($0) })
        #expect(admission.unfinishedCount == 8)
        #expect(admission.begin(client(100), from: origin(2), at: start) == .admitted(inPlaceOf: nil))
        #expect(admission.finish(client(100)) == .admitted(inPlaceOf: nil))
        #expect(admission.clientCount == 1 && admission.unfinishedCount == 8)
    }

    @Test func aClientBehindTheSameAddressTakesThePlaceOfTheOldestUnfinishedHandshake() {
        var admission = Admission()
        _ = fill(&admission, 0..<8, from: 1)
        #expect(admission.begin(client(8), from: origin(1), at: start) == .admitted(inPlaceOf: client(0)))
        #expect(admission.finish(client(8)) == .admitted(inPlaceOf: nil))
        // A client that had to yield is not let in afterwards.
        #expect(admission.finish(client(0)) == .refused(.noPlace))
    }

    @Test func whenAllUnfinishedHandshakesAreTakenTheAddressWithTheMostYields() {
        var admission = Admission()
        _ = fill(&admission, 0..<6, from: 1)
        _ = fill(&admission, 6..<14, from: 2)
        _ = fill(&admission, 14..<22, from: 3)
        _ = fill(&admission, 22..<30, from: 4)
        _ = fill(&admission, 30..<32, from: 5)
        #expect(admission.unfinishedCount == Admission.unfinishedLimit)
        #expect(admission.begin(client(32), from: origin(6), at: start) == .admitted(inPlaceOf: client(6)))
        #expect(admission.begin(client(33), from: origin(6), at: start) == .admitted(inPlaceOf: client(14)))
        #expect(admission.unfinishedCount == Admission.unfinishedLimit)
    }

    @Test func linkLocalAddressesOfOneMachineKeepNobodyElseOut() {
        var admission = Admission()
        // An honest client is in the middle of its handshake.
        #expect(admission.begin(client(100), from: origin(1), at: start) == .admitted(inPlaceOf: nil))
        for number in 0..<40 {
            let verdict = admission.begin(client(number), from: .linkLocal(UInt64(number)), at: start)
            // From the 17th on each takes the place of the oldest on the link.
            #expect(verdict == .admitted(inPlaceOf: number < 16 ? nil : client(number - 16)))
        }
        #expect(admission.unfinishedCount == Admission.unfinishedLimitPerNetwork + 1)
        #expect(admission.finish(client(100)) == .admitted(inPlaceOf: nil))
        // Of the addresses on the link the one with the most yields first.
        #expect(admission.begin(client(101), from: .linkLocal(39), at: start) == .admitted(inPlaceOf: client(24)))
        #expect(admission.begin(client(102), from: .linkLocal(50), at: start) == .admitted(inPlaceOf: client(39)))
    }

    @Test func linkLocalAddressesShareThePlacesOfOneAddress() {
        var admission = Admission()
        for number in 0..<8 {
            _ = admission.begin(client(number), from: .linkLocal(UInt64(number)), at: start)
            #expect(admission.finish(client(number)) == .admitted(inPlaceOf: nil))
        }
        // Another one on the link has as many as each of the others.
        _ = admission.begin(client(8), from: .linkLocal(8), at: start)
        #expect(admission.finish(client(8)) == .refused(.noPlace))
        // All of the link together have more than their share.
        for number in 9..<13 {
            _ = admission.begin(client(number), from: origin(1), at: start)
            guard case .admitted(inPlaceOf: .some) = admission.finish(client(number)) else {
                Issue.record("client \(number) has got no place")
                continue
            }
        }
        #expect(admission.clientCount == Admission.clientLimit)
        _ = admission.begin(client(13), from: origin(1), at: start)
        #expect(admission.finish(client(13)) == .refused(.noPlace))
    }

    @Test func anAddressOnTheLinkWithAllPlacesYieldsToItsNeighbor() {
        var admission = Admission()
        for number in 0..<8 {
            _ = admission.begin(client(number), from: .linkLocal(1), at: start)
            #expect(admission.finish(client(number)) == .admitted(inPlaceOf: nil))
        }
        _ = admission.begin(client(8), from: .linkLocal(2), at: start)
        #expect(admission.finish(client(8)) == .admitted(inPlaceOf: client(7)))
    }

    @Test func anAddressMayHaveAllPlacesWhileNobodyElseWantsOne() {
        var admission = Admission()
        welcome(&admission, 0..<8, from: 1)
        _ = admission.begin(client(8), from: origin(1), at: start)
        #expect(admission.finish(client(8)) == .refused(.noPlace))
        #expect(admission.clientCount == 8)
    }

    @Test func clientsAtOtherAddressesGetUpToHalfOfThePlaces() {
        var admission = Admission()
        welcome(&admission, 0..<8, from: 1)
        for number in 8..<12 {
            _ = admission.begin(client(number), from: origin(2), at: start)
            // The newest of the others yields.
            #expect(admission.finish(client(number)) == .admitted(inPlaceOf: client(15 - number)))
        }
        _ = admission.begin(client(12), from: origin(2), at: start)
        #expect(admission.finish(client(12)) == .refused(.noPlace))
        #expect(admission.clientCount == 8)
    }

    @Test func placesAndHandshakesAreGivenBack() {
        var admission = Admission()
        welcome(&admission, 0..<8, from: 1)
        _ = fill(&admission, 8..<16, from: 1)
        for number in 0..<16 { admission.end(client(number)) }
        #expect(admission.clientCount == 0 && admission.unfinishedCount == 0)
        welcome(&admission, 16..<24, from: 1)
    }

    @Test func failedHandshakesBackOff() {
        var admission = Admission()
        for number in 0..<FailedHandshakes.freeFailures {
            #expect(admission.begin(client(number), from: origin(1), at: start) == .admitted(inPlaceOf: nil))
            admission.fail(from: origin(1), at: start)
            admission.end(client(number))
        }
        var now = 0.0
        for wait in [1, 2, 4, 8, 16, 30, 30] as [Double] {
            #expect(admission.begin(client(99), from: origin(1), at: time(now)) != .refused(.backingOff))
            admission.fail(from: origin(1), at: time(now))
            admission.end(client(99))
            #expect(admission.begin(client(99), from: origin(1), at: time(now + wait - 0.01)) == .refused(.backingOff))
            #expect(admission.begin(client(98), from: origin(2), at: time(now)) != .refused(.backingOff))
            admission.end(client(98))
            now += wait
        }
        // A client with the key ends that.
        _ = admission.begin(client(99), from: origin(1), at: time(now))
        #expect(admission.finish(client(99)) == .admitted(inPlaceOf: nil))
        admission.fail(from: origin(1), at: time(now))
        #expect(admission.begin(client(100), from: origin(1), at: time(now)) != .refused(.backingOff))
    }

    @Test func failuresAreForgotten() {
        var failures = FailedHandshakes()
        for _ in 0..<20 { failures.record(origin(1), at: start) }
        #expect(failures.isBackingOff(origin(1), at: time(29)))
        failures.record(origin(1), at: time(29 + 300))
        #expect(!failures.isBackingOff(origin(1), at: time(29 + 300)))
    }

    @Test func theTableOfFailuresIsBounded() {
        var failures = FailedHandshakes()
        for _ in 0...FailedHandshakes.freeFailures { failures.record(origin(0), at: time(100)) }
        for number in 1..<10_000 { failures.record(origin(number), at: time(Double(number) / 1_000_000)) }
        #expect(failures.count == FailedHandshakes.limit)
        // The one that failed last is still known.
        #expect(failures.isBackingOff(origin(0), at: time(100)))
    }

    static let origins: [(String, ClientOrigin)] = [
        ("192.0.2.1", .ipv4(0xC000_0201)), ("::ffff:192.0.2.1", .ipv4(0xC000_0201)),
        ("2001:db8:0:1::1", .ipv6Network(0x2001_0DB8_0000_0001)),
        ("2001:db8:0:1:ffff::2", .ipv6Network(0x2001_0DB8_0000_0001)),
        ("2001:db8:0:2::1", .ipv6Network(0x2001_0DB8_0000_0002)),
        ("fe80::1", .linkLocal(1)), ("fe80::2", .linkLocal(2)), ("::1", .ipv6Network(0)),
    ]

    @Test(arguments: origins) func addressesThatCountAsOne(text: String, origin: ClientOrigin) throws {
        #expect(ClientOrigin(try SocketAddress(ipAddress: text, port: 6053)) == origin)
    }

    @Test func placesWithoutAnAddress() throws {
        #expect(ClientOrigin(nil) == .unknown)
        #expect(ClientOrigin(try SocketAddress(unixDomainSocketPath: "/a")) == .unknown)
    }
}
