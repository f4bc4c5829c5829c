/// The log-distance path loss model. A signal loses `lossAtOneMetre` dB over the first metre, and `10 · exponent` dB
/// with every tenfold increase in distance beyond that.
///
/// The distances are only orders of magnitude. Bodies, walls, reflections and antenna orientation change a signal by 10
/// dB in either direction, which is a factor of 2.5 in distance if the exponent is 2.5. Losses vary by as much between
/// devices.
public struct PathLossModel: Equatable, Sendable {
    /// The path loss at a distance of one metre, in dB.
    public var lossAtOneMetre: Double
    /// The path loss exponent: 2 in free space, up to 4 through walls.
    public var exponent: Double
    /// The transmit power in dBm to assume for a device that does not advertise it.
    public var assumedTxPowerLevel: Int8

    /// Creates a model. The defaults suit beacons that transmit at 0 dBm in a furnished room.
    public init(lossAtOneMetre: Double = 59, exponent: Double = 2.5, assumedTxPowerLevel: Int8 = 0) {
        self.lossAtOneMetre = lossAtOneMetre
        self.exponent = exponent
        self.assumedTxPowerLevel = assumedTxPowerLevel
    }

    /// Returns the distance in metres that corresponds to a path loss in dB.
    public func distance(pathLoss: Double) -> Double {
        // 10^x = 2^(x · log2 10)
        powerOfTwo((pathLoss - lossAtOneMetre) / (10 * exponent) * 3.321_928_094_887_362)
    }
}

/// Returns 2 to the power of `exponent`, accurate to 7 digits. The standard library has no such function. Exponents are
/// clamped to -1000...1000; the result for NaN is 0.
func powerOfTwo(_ exponent: Double) -> Double {
    guard !exponent.isNaN else { return 0 }
    let clamped = min(max(exponent, -1000), 1000)
    // Not `rounded(.down)`, which calls into the C library. A program without Foundation may not link that.
    let towardsZero = Int(clamped), whole = Double(towardsZero) > clamped ? towardsZero - 1 : towardsZero
    // Compute e^y for y in 0..<ln 2 by its series. The first omitted term is below 1e-9.
    let y = (clamped - Double(whole)) * 0.693_147_180_559_945_3
    var term = 1.0, sum = 1.0
    for divisor in 1...10 {
        term *= y / Double(divisor)
        sum += term
    }
    return Double(sign: .plus, exponent: whole, significand: sum)
}
