import BluetoothBase
import BluetoothGAP
import Foundation

/// The `advertisementData` of the devices that the managers of an adapter find. Most devices repeat their last
/// advertisement with at most a number or two changed, and all managers get the same sightings. So each dictionary is
/// made once, from that of the device's previous sighting.
final class Advertisements: Sendable {
    private let state: Guarded<State>

    private static let capacity = 512

    private struct State {
        var dictionaries: AdvertisementDictionary
        /// The devices found most recently.
        var templates = AddressTable<AdvertisementTemplate>(capacity: Advertisements.capacity)
    }

    /// - Parameter now: returns the current time, for timestamps.
    init(at now: @escaping @Sendable () -> CFAbsoluteTime) {
        state = Guarded(wrappedValue: State(dictionaries: AdvertisementDictionary(at: now)))
    }

    /// Forgets all devices, because the numbers of sightings begin again.
    func removeAll() { state.withLock { $0.templates = AddressTable(capacity: Self.capacity) } }

    /// The dictionary for a sighting of a known device; nil if it must be made from scratch.
    ///
    /// - Parameters:
    ///   - index: the index of the sighting.
    ///   - template: the device's, which is updated.
    @inline(__always)
    func dictionary(
        for index: Int, of found: FoundDevices, by template: AdvertisementTemplate
    ) -> [String: Any]? {
        state.withLock { state in
            if let dictionary = template.dictionary(for: found.number(of: index)) { return dictionary }
            return template.dictionary(
                for: index, of: found.sightings, found.number(of: index), by: &state.dictionaries)
        }
    }

    /// Makes the dictionary for a sighting from scratch, or returns the one that another manager made.
    ///
    /// - Parameter data: the decoded data of the sighting.
    func make(
        _ sighting: Sighting, _ number: SightingNumber, _ data: AdvertisementData
    ) -> (AdvertisementTemplate, [String: Any]) {
        state.withLock { state in
            let address = sighting.peer.firstAddress
            if let slot = state.templates.slot(of: address),
                let known = state.templates[slot].dictionary(
                    for: 0, of: [sighting], number, by: &state.dictionaries)
            {
                return (state.templates[slot], known)
            }
            let dictionary = state.dictionaries.make(sighting, data)
            let template = AdvertisementTemplate(sighting, number, dictionary)
            if let slot = state.templates.slot(of: address) {
                state.templates[slot] = template
            } else {
                _ = state.templates.insert(template, for: address)
            }
            return (template, dictionary)
        }
    }
}
