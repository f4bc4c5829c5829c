import BluetoothLE
import BluetoothCommandLine

/// The measurements of a link.
struct BenchResult: Sendable {
    /// The throughput in one direction, for values without responses.
    struct Throughput: Sendable {
        var octets: Int
        var time: Duration
        /// Octets that were sent and did not arrive.
        var lostOctets: Int

        var bitsPerSecond: Double { time > .zero ? Double(octets) * 8 / (time / .seconds(1)) : 0 }
    }

    var address: DeviceAddress
    var mtu: Int
    var phys: LinkPHYs
    /// The connection interval.
    var interval: Duration
    /// The time from each request to its response, in ascending order.
    var roundTrips: [Duration]
    var writes: Throughput
    var notifications: Throughput

    /// The round trip at a percentile (nearest rank).
    func roundTrip(percentile: Int) -> Duration? {
        let rank = (roundTrips.count * percentile + 99) / 100
        return roundTrips.indices.contains(rank - 1) ? roundTrips[rank - 1] : roundTrips.first
    }

    // MARK: Output

    var lines: [String] {
        let trips = [
            ("min", roundTrips.first), ("median", roundTrip(percentile: 50)), ("p99", roundTrip(percentile: 99)),
        ]
        return [
            "\(address)  ATT_MTU \(mtu), interval \(milliseconds(interval)) ms, \(phys.text)",
            "round trips     "
                + trips.map { name, time in "\(name) \(time.map { "\(milliseconds($0))" } ?? "?") ms" }.joined(
                    separator: ", ")
                + " (of \(roundTrips.count))",
            "writes          " + text(writes), "notifications   " + text(notifications),
        ]
    }

    private func text(_ throughput: Throughput) -> String {
        Self.kilobits(throughput.bitsPerSecond)
            + " (\(counted(throughput.octets, "octet")) in \(milliseconds(throughput.time)) ms)"
            + (throughput.lostOctets > 0 ? ", \(counted(throughput.lostOctets, "octet")) lost" : "")
    }

    static func kilobits(_ bitsPerSecond: Double) -> String { "\((bitsPerSecond / 100).rounded() / 10) kbit/s" }

    var json: String {
        var object = JSONObject()
        object.add("address", "\(address)")
        object.add("mtu", mtu)
        object.add("interval", milliseconds(interval))
        object.add("transmitPHY", phys.transmit.text)
        object.add("receivePHY", phys.receive.text)
        object.add("roundTrips", self) { object, result in
            object.add("count", result.roundTrips.count)
            object.add("minimum", result.roundTrips.first.map(milliseconds))
            object.add("median", result.roundTrip(percentile: 50).map(milliseconds))
            object.add("p99", result.roundTrip(percentile: 99).map(milliseconds))
        }
        for (name, throughput) in [("writes", writes), ("notifications", notifications)] {
            object.add(name, throughput) { object, throughput in
                object.add("octets", throughput.octets)
                object.add("milliseconds", milliseconds(throughput.time))
                object.add("bitsPerSecond", Int(throughput.bitsPerSecond.rounded()))
                object.add("lostOctets", throughput.lostOctets)
            }
        }
        return object.text
    }
}

/// Milliseconds, rounded to the microsecond.
private func milliseconds(_ time: Duration) -> Double { (time / .microseconds(1)).rounded() / 1000 }
