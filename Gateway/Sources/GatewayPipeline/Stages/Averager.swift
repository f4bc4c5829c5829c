import BluetoothValues

/// Averages values over a window. The result is the mean of a number, and the latest value of anything else.
public struct Averager: Equatable, Sendable {
    private struct Sum: Equatable, Sendable {
        var field: AdvertisedField
        var digits: Int64 = 0
        var places = 0
        var count: Int64 = 0
    }

    private var sums: [Sum] = []

    /// Creates an averager without values.
    public init() {}

    /// Whether no value was added since the last call of `takeMeans`.
    public var isEmpty: Bool { sums.isEmpty }

    /// Adds values. Names beyond `limit` are ignored.
    public mutating func add(_ fields: [AdvertisedField], limit: Int) {
        for field in fields {
            let index: Int
            if let found = sums.firstIndex(where: { $0.field.name == field.name }) {
                index = found
            } else {
                guard sums.count < limit else { continue }
                index = sums.count
                sums.append(Sum(field: field))
            }
            sums[index].field = field
            guard case .number(let number) = field.value else { continue }
            if sums[index].count == 0 { sums[index].places = number.places }
            // The number of places of a name changes only if a device uses two resolutions. Then the mean starts over.
            let (sum, overflow) = sums[index].digits.addingReportingOverflow(number.digits)
            if number.places != sums[index].places || overflow {
                sums[index].digits = number.digits
                sums[index].places = number.places
                sums[index].count = 1
            } else {
                sums[index].digits = sum
                sums[index].count += 1
            }
        }
    }

    /// Returns the means, with the number of places of the original values, and starts over.
    public mutating func takeMeans() -> [AdvertisedField] {
        defer { sums.removeAll(keepingCapacity: true) }
        return sums.map { sum in
            guard sum.count > 0, case .number = sum.field.value else { return sum.field }
            var field = sum.field
            // Rounded to the nearest, halves away from zero.
            let (quotient, remainder) = sum.digits.quotientAndRemainder(dividingBy: sum.count)
            let isUp = remainder.magnitude >= sum.count.magnitude - remainder.magnitude
            let rounded = isUp ? quotient + (sum.digits < 0 ? -1 : 1) : quotient
            field.value = .number(FixedPointNumber(rounded, places: sum.places))
            return field
        }
    }
}
