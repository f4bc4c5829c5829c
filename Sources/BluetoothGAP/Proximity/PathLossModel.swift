/// The log-distance path loss model: a signal loses `lossAtOneMetre` over the first metre and `10 · exponent` dB with
/// every tenfold increase of the distance beyond that.
///
/// The distances are only orders of magnitude. Bodies, walls, reflections and the orientation of an antenna change a
/// signal by 10 dB either way, a factor of 2.5 with an exponent of 2.5, and losses differ as much between devices.
public struct PathLossModel: Equatable, Sendable {
    /// How much weaker the signal is at one metre than it was sent, in dB.
    public var lossAtOneMetre: Double
    /// 2 in free space, up to 4 through walls.
    public var exponent: Double
    /// The transmit power in dBm to assume for a device that does not advertise its own.
    public var assumedTxPowerLevel: Int8

    /// The defaults suit beacons that transmit at 0 dBm, in a furnished room.
    public init(lossAtOneMetre: Double = 59, exponent: Double = 2.5, assumedTxPowerLevel: Int8 = 0) {
        self.lossAtOneMetre = lossAtOneMetre
        self.exponent = exponent
        self.assumedTxPowerLevel = assumedTxPowerLevel
    }

    /// The distance in metres at which the signal has lost this many dB.
    public func distance(pathLoss: Double) -> Double {
        // 10^x = 2^(x · log2 10)
        powerOfTwo((pathLoss - lossAtOneMetre) / (10 * exponent) * 3.321_928_094_887_362)
    }
}

/// 2 to the power of `exponent`, to 7 digits; the standard library has no such function. Clamped to exponents from
/// -1000 to 1000, and 0 for what is not a number.
func powerOfTwo(_ exponent: Double) -> Double {
    guard !exponent.isNaN else { return 0 }
    let clamped = min(max(exponent, -1000), 1000)
    // Not `rounded(.down)`, which calls into the C library, and a program without Foundation may not link that.
    let towardsZero = Int(clamped), whole = Double(towardsZero) > clamped ? towardsZero - 1 : towardsZero
    // e^y for y in 0..<ln 2, by its series: the first term left out is below 1e-9.
    let y = (clamped - Double(whole)) * 0.693_147_180_559_945_3
    var term = 1.0, sum = 1.0
    for divisor in 1...10 {
        term *= y / Double(divisor)
        sum += term
    }
    return Double(sign: .plus, exponent: whole, significand: sum)
}
