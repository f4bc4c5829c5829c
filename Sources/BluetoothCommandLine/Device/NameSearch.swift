import BluetoothLE

/// The devices that a scan for a name has found so far: those with the name, and names that are close to it.
struct NameSearch {
    /// The result of the search.
    enum Verdict: Equatable {
        case none
        /// The only device with exactly this name.
        case one(Sighting)
        /// Several devices have exactly this name.
        case namesakes([Sighting])
    }

    /// The maximum number of devices. Up to twice that number are kept if the additional ones have the wanted name.
    private static let capacity = 512
    /// The number of devices listed in a message.
    private static let listLimit = 8
    private static let suggestionLimit = 4

    let wanted: String
    /// In the order in which they were found.
    private var devices: [PeerID] = []
    private var sightings: [PeerID: Sighting] = [:]

    init(_ wanted: String) { self.wanted = wanted }

    /// Adds a sighting. Returns whether a device with the wanted name is known.
    mutating func take(_ sighting: Sighting) -> Bool {
        let isMatch = sighting.name == wanted
        if let known = sightings[sighting.peer] {
            // A scan response contains the name if the advertising data lacks it, or the rest of the name.
            if sighting.name != nil || known.name == nil { sightings[sighting.peer] = sighting }
        } else if devices.count < Self.capacity || (isMatch && devices.count < 2 * Self.capacity) {
            devices.append(sighting.peer)
            sightings[sighting.peer] = sighting
        }
        return verdict != .none
    }

    private var all: [Sighting] { devices.compactMap { sightings[$0] } }

    var verdict: Verdict {
        let matching = all.filter { $0.name == wanted }
        return switch matching.count {
        case 0: .none
        case 1: .one(matching[0])
        default: .namesakes(matching)
        }
    }

    /// The names that are close to the wanted one: first those that begin with it, then the others by distance.
    var closeNames: [String] {
        let wanted = wanted.lowercased()
        // Up to a third of the letters may differ, or one in a short name. Beyond that it is a different name.
        let limit = max(1, wanted.count / 3)
        let ranked = Set(all.compactMap(\.name)).filter { !$0.isEmpty }.map { name in
            let lowercased = name.lowercased()
            return (
                name: name, rank: lowercased.hasPrefix(wanted) ? 0 : 1,
                distance: Suggestion.distance(from: wanted, to: lowercased)
            )
        }
        let close = ranked.filter { name, rank, distance in
            rank == 0 || distance <= limit || (wanted.count > 1 && name.lowercased().contains(wanted))
        }
        let sorted = close.sorted { ($0.rank, $0.distance, $0.name) < ($1.rank, $1.distance, $1.name) }
        return sorted.prefix(Self.suggestionLimit).map(\.name)
    }

    // MARK: - Messages

    /// The message for a device that has not been found for a while.
    var hint: String {
        let close = closeNames.map { quoted($0) }
        let found =
            switch (close.count, devices.count) {
            case (1, _): "\(close[0]) is advertising"
            case (2..., _): close.dropLast().joined(separator: ", ") + " and \(close[close.count - 1]) are advertising"
            case (_, 0): "no device is advertising"
            case (_, 1): "the only device in range has a different name; see ble scan"
            case (_, let count): "none of the \(count) devices in range has a similar name; see ble scan"
            }
        return "no device named \(quoted(wanted)) yet; \(found)"
    }

    /// The failure for a name that several devices have; nil for any other.
    var ambiguity: CommandFailure? {
        switch verdict {
        case .none, .one: nil
        case .namesakes(let devices):
            CommandFailure(
                .usage,
                "several devices are named \(quoted(wanted)): \(Self.list(devices)); give the address")
        }
    }

    private static func list(_ devices: [Sighting]) -> String {
        let shown = devices.prefix(listLimit).map { "\($0.address)" + ($0.rssi.map { " (\($0) dBm)" } ?? "") }
        let rest = devices.count - shown.count
        return shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }
}
