import BluetoothBase
import BluetoothGAP
import Testing

private func peer(_ number: UInt64) -> PeerID { PeerID(DeviceAddress(number, kind: .random)) }
private func at(_ milliseconds: Int) -> Instant { .zero.advanced(by: .milliseconds(milliseconds)) }

/// The half-life of a measurement is two seconds.
private func estimator(capacity: Int = 16) -> ProximityEstimator { ProximityEstimator(capacity: capacity) }

extension Double {
    fileprivate func isClose(to other: Double) -> Bool { abs(self - other) < 1e-6 }
}

struct ProximityAverageTests {
    @Test func `a device's first measurement is its average`() {
        var estimator = estimator()
        estimator.record(peer(1), rssi: -60, at: at(0))
        #expect(estimator.estimate(for: peer(1))?.rssi == -60)
        #expect(estimator.estimate(for: peer(2)) == nil)
    }

    @Test(
        "an older measurement loses weight with its age",
        arguments: [
            (0, -70.0),  // 1 : 1
            (2_000, (-60 * 0.5 - 80) / 1.5),  // 1/2 : 1
            (4_000, (-60 * 0.25 - 80) / 1.25),  // 1/4 : 1
            (6_000, (-60 * 0.125 - 80) / 1.125),  // 1/8 : 1
        ] as [(Int, Double)])
    func decay(_ milliseconds: Int, _ expected: Double) {
        var estimator = estimator()
        estimator.record(peer(1), rssi: -60, at: at(0))
        estimator.record(peer(1), rssi: -80, at: at(milliseconds))
        #expect(estimator.estimate(for: peer(1))?.rssi.isClose(to: expected) == true)
    }

    @Test func `old measurements fade with time, not with the number of new ones`() {
        var slow = estimator(), fast = estimator()
        for device in [peer(1)] {
            // Ten seconds at -80 dBm and then ten at -50, once a second and twenty times a second.
            for second in 0..<20 { slow.record(device, rssi: second < 10 ? -80 : -50, at: at(second * 1000)) }
            for tick in 0..<400 { fast.record(device, rssi: tick < 200 ? -80 : -50, at: at(tick * 50)) }
            guard let slow = slow.estimate(for: device), let fast = fast.estimate(for: device) else {
                Issue.record("not followed")
                return
            }
            #expect(abs(slow.rssi - fast.rssi) < 0.5)
        }
    }

    @Test func `a missing measurement is ignored`() {
        var estimator = estimator()
        estimator.record(peer(1), rssi: nil, at: at(0))
        estimator.record(peer(1), rssi: 127, at: at(0))
        #expect(estimator.count == 0)
        estimator.record(peer(1), rssi: -60, at: at(0))
        estimator.record(peer(1), rssi: 127, at: at(9_000))
        #expect(estimator.estimate(for: peer(1))?.lastSeen == at(0))
    }

    @Test func `a measurement with an earlier timestamp is averaged without moving lastSeen back`() {
        var estimator = estimator()
        estimator.record(peer(1), rssi: -60, at: at(5_000))
        estimator.record(peer(1), rssi: -80, at: at(0))
        #expect(estimator.estimate(for: peer(1))?.rssi == -70)
        #expect(estimator.estimate(for: peer(1))?.lastSeen == at(5_000))
    }
}

struct ProximityIdentityTests {
    @Test func `a device that changes its private address remains one device`() {
        var estimator = estimator(), table = SightingTable()
        for (number, rssi) in ([-50, -70] as [Int8]).enumerated() {
            let address = DeviceAddress(0x4000_0000_0000 + UInt64(number), kind: .random)
            let data: [UInt8] = []
            let report = AdvertisingReport(
                address: address, peer: peer(7), eventType: .connectable, rssi: rssi, data: data.span)
            let slot = table.receive(report, at: at(0)).slot
            estimator.record(table[slot])
        }
        #expect(estimator.count == 1)
        #expect(estimator.estimate(for: peer(7))?.rssi == -60)
        #expect(estimator.nearestFirst.map(\.peer) == [peer(7)])
    }
}

struct ProximityOrderTests {
    @Test func `the nearest device comes first, and ties are ordered by first sighting`() {
        var estimator = estimator()
        estimator.record(peer(1), rssi: -70, at: at(0))
        estimator.record(peer(2), rssi: -50, at: at(1))
        estimator.record(peer(3), rssi: -70, at: at(2))
        estimator.record(peer(4), rssi: -50, at: at(3))
        estimator.record(peer(1), rssi: -70, at: at(4))
        #expect(estimator.nearestFirst.map(\.peer.firstAddress.value) == [2, 4, 1, 3])
    }

    @Test func `at the same RSSI, a device with a higher transmit power is farther away`() {
        var estimator = estimator()
        estimator.record(peer(1), rssi: -60, txPowerLevel: 8, at: at(0))
        estimator.record(peer(2), rssi: -60, txPowerLevel: -8, at: at(0))
        estimator.record(peer(3), rssi: -60, at: at(0))
        #expect(estimator.nearestFirst.map(\.peer.firstAddress.value) == [2, 3, 1])
        #expect(estimator.nearestFirst.map(\.pathLoss) == [52, 60, 68])
    }

    @Test func `devices not seen for ten seconds are removed at the deadline`() {
        var estimator = estimator()
        #expect(estimator.nextDeadline == nil)
        estimator.record(peer(1), rssi: -60, at: at(0))
        estimator.record(peer(2), rssi: -60, at: at(4_000))
        #expect(estimator.nextDeadline == at(10_000))
        estimator.record(peer(1), rssi: -60, at: at(5_000))
        #expect(estimator.nextDeadline == at(14_000))
        estimator.fire(at: at(13_999))
        #expect(estimator.count == 2)
        estimator.fire(at: at(14_000))
        #expect(estimator.nearestFirst.map(\.peer) == [peer(1)])
        estimator.fire(at: at(15_000))
        #expect(estimator.nextDeadline == nil)
    }

    @Test func `G2: the number of devices is bounded`() {
        var estimator = estimator(capacity: 8)
        for number in 0..<10_000 as Range<UInt64> { estimator.record(peer(number), rssi: -60, at: at(0)) }
        #expect(estimator.count == 8)
        #expect(estimator.nearestFirst.map(\.peer.firstAddress.value) == Array(9_992..<10_000))
    }
}

struct ProximityZoneTests {
    /// The zone of a device at a path loss; 59 dB is one metre.
    private func zone(after losses: [Int8]) -> ProximityZone? {
        var configuration = ProximityEstimator.Configuration()
        configuration.halfLife = .milliseconds(1)
        var estimator = ProximityEstimator(configuration)
        for (index, loss) in losses.enumerated() {
            estimator.record(peer(1), rssi: -loss, txPowerLevel: 0, at: at(index * 1000))
        }
        return estimator.estimate(for: peer(1))?.zone
    }

    @Test(
        arguments: [
            ([40], .immediate), ([51], .immediate), ([52], .near), ([59], .near), ([70], .near), ([71], .far),
            ([100], .far),
        ] as [([Int8], ProximityZone)])
    func `the path loss determines the zone of a device`(_ losses: [Int8], _ expected: ProximityZone) {
        #expect(zone(after: losses) == expected)
    }

    /// Half a metre is 51.5 dB, three metres 70.9, and the hysteresis 2.4 dB either way.
    @Test(
        arguments: [
            ([50, 53], .immediate), ([50, 54], .near), ([54, 50], .near), ([54, 49], .immediate),
            ([70, 73], .near), ([70, 74], .far), ([74, 69], .far), ([74, 68], .near),
            ([40, 100], .far), ([100, 40], .immediate), ([50, 53, 50, 53], .immediate),
        ] as [([Int8], ProximityZone)])
    func `a zone changes only when its boundary is clearly passed`(_ losses: [Int8], _ expected: ProximityZone) {
        #expect(zone(after: losses) == expected)
    }
}

struct PathLossModelTests {
    @Test(
        arguments: [
            (59, 1), (84, 10), (34, 0.1), (109, 100), (66.525749891599, 2),
        ] as [(Double, Double)])
    func `25 dB more path loss means ten times the distance`(_ loss: Double, _ expected: Double) {
        let distance = PathLossModel().distance(pathLoss: loss)
        #expect(abs(distance / expected - 1) < 1e-4)
    }

    @Test func `a distance is estimated only if the transmit power is known`() {
        var estimator = estimator()
        estimator.record(peer(1), rssi: -67, txPowerLevel: -8, at: at(0))
        estimator.record(peer(2), rssi: -67, at: at(0))
        #expect(estimator.estimate(for: peer(1))?.distance?.isClose(to: 1) == true)
        #expect(estimator.estimate(for: peer(2))?.distance == nil)
        #expect(estimator.estimate(for: peer(2))?.zone == .near)
    }

    @Test func `a model with extreme parameters still returns finite distances`() {
        #expect(PathLossModel(exponent: 0).distance(pathLoss: 59) == 0)
        #expect(PathLossModel(exponent: 0).distance(pathLoss: 60).isFinite)
        #expect(PathLossModel(lossAtOneMetre: .infinity).distance(pathLoss: 60).isFinite)
    }
}
