import BluetoothBase
import BluetoothGAP
import BluetoothHCI

/// The commands that start advertising.
extension AdvertisingParameters {
    /// The reason why a controller cannot advertise with these parameters; nil if it can.
    func obstacle(_ radio: RadioFeatures) -> HostError? {
        guard needsExtendedCommands else { return nil }
        guard radio.isExtended else { return .unsupported(.extendedAdvertising) }
        let missing = phys.subtracting(radio.phys)
        guard missing.isEmpty else { return .unsupported(missing.contains(.leCoded) ? .leCoded : .le2M) }
        let limit = extended == nil ? 31 : max(31, radio.maximumDataLength)
        return max(data.count, scanResponse.count) > limit
            ? .advertisingDataTooLong(limit: limit) : periodicObstacle(radio)
    }

    private var phys: LEPHYs {
        guard let extended else { return .le1M }
        return [extended.primaryPHY.set, extended.secondaryPHY.set]
    }

    /// The commands that start advertising, in order. The last one enables it.
    ///
    /// - Parameters:
    ///   - left: the remaining duration; nil if it is unlimited.
    ///   - former: the addresses of a paused set that only has to be enabled again, with other addresses if they have
    ///     changed; nil for a new set.
    func commands(
        for handle: AdvertisingHandle, _ addresses: Advertiser.Addresses, _ radio: RadioFeatures, left: Duration?,
        resuming former: Advertiser.Addresses? = nil
    ) -> [any HCICommand] {
        guard radio.isExtended else { return legacyCommands(addresses, radio) }
        var commands: [any HCICommand] = []
        if former != addresses {
            commands.append(parametersCommand(for: handle, addresses))
            if let random = addresses.random {
                commands.append(LESetAdvertisingSetRandomAddress(advertisingHandle: handle, address: random))
            }
        }
        if former == nil { commands += dataCommands(for: handle) + periodicCommands(for: handle) }
        return commands + [enablingCommand(for: handle, left: left)]
    }

    private func dataCommands(for handle: AdvertisingHandle) -> [any HCICommand] {
        // Directed legacy PDUs carry no data (7.8.54).
        guard extended != nil || peer == nil else { return [] }
        return Self.fragments(data).map { LESetExtendedAdvertisingData(advertisingHandle: handle, fragment: $0) }
            + Self.fragments(isScannable ? scanResponse : []).map {
                LESetExtendedScanResponseData(advertisingHandle: handle, fragment: $0)
            }
    }

    private func enablingCommand(for handle: AdvertisingHandle, left: Duration?) -> any HCICommand {
        let units = left.map { ($0 + .nanoseconds(9_999_999)) / .milliseconds(10) }
        let set = LESetExtendedAdvertisingEnable.AdvertisingSet(
            advertisingHandle: handle, duration: units.map { $0 < 65536 ? UInt16(max(1, $0)) : 0 } ?? 0,
            maxExtendedAdvertisingEvents: maximumEvents ?? 0)
        return LESetExtendedAdvertisingEnable(isEnabled: true, sets: [set])
    }

    private func legacyCommands(_ addresses: Advertiser.Addresses, _ radio: RadioFeatures) -> [any HCICommand] {
        let interval = interval(for: radio.version)
        return [
            LESetAdvertisingParameters(
                intervalMin: LESlots(clamping: interval.lowerBound),
                intervalMax: LESlots(clamping: interval.upperBound), type: type, ownAddressType: addresses.own,
                peerAddress: addresses.peer),
            LESetAdvertisingData(data: data), LESetScanResponseData(data: scanResponse),
            LESetAdvertisingEnable(isEnabled: true),
        ]
    }

    /// The interval for a controller of this version; nil if the version is not known. Before version 5.0,
    /// non-connectable advertising needs at least 100 ms (Core 4.2, Vol 2, Part E, 7.8.5).
    private func interval(for version: CoreVersion?) -> ClosedRange<Duration> {
        guard !isConnectable, let version, version < .v50 else { return interval }
        let shortest = Duration.milliseconds(100)
        return max(shortest, interval.lowerBound)...max(shortest, interval.upperBound)
    }

    private var type: LEAdvertisingType {
        if isHighDutyCycle { return .connectableDirectedHighDutyCycle }
        if peer != nil { return .connectableDirectedLowDutyCycle }
        if isConnectable { return .connectableUndirected }
        return scanResponse.isEmpty ? .nonConnectableUndirected : .scannableUndirected
    }

    /// LE Set Extended Advertising Parameters (7.8.53).
    private func parametersCommand(
        for handle: AdvertisingHandle, _ addresses: Advertiser.Addresses
    ) -> LESetExtendedAdvertisingParameters {
        var properties: AdvertisingEventProperties = []
        if isConnectable { properties.insert(.connectable) }
        if isScannable { properties.insert(.scannable) }
        if peer != nil { properties.insert(.directed) }
        if isHighDutyCycle { properties.insert(.highDutyCycle) }
        if extended == nil { properties.insert(.legacy) }
        if extended?.isAnonymous == true { properties.insert(.anonymous) }
        if extended?.includesTransmitPower == true { properties.insert(.includesTransmitPower) }
        var command = LESetExtendedAdvertisingParameters(advertisingHandle: handle, properties: properties)
        command.primaryIntervalMin = LESlots(clamping: interval.lowerBound)
        command.primaryIntervalMax = LESlots(clamping: interval.upperBound)
        command.ownAddressType = addresses.own
        command.peerAddress = addresses.peer
        command.transmitPower = transmitPower ?? 127
        if let extended {
            command.primaryPHY = LEPHY(rawValue: extended.primaryPHY.rawValue)
            command.secondaryPHY = LEPHY(rawValue: extended.secondaryPHY.rawValue)
            command.advertisingSID = extended.sid ?? handle.rawValue & 0x0F
        }
        return command
    }

    /// The maximum length of a fragment: a command has at most 255 octets of parameters.
    static let longestFragment = 251

    /// Splits the data into as many fragments as it needs, one per command (7.8.54). A new set has no data, so empty
    /// data needs no command.
    static func fragments(_ data: [UInt8], of longest: Int = longestFragment) -> [AdvertisingDataFragment] {
        guard data.count > longest else {
            return data.isEmpty ? [] : [AdvertisingDataFragment(operation: .complete, data: data)]
        }
        return stride(from: 0, to: data.count, by: longest).map { start in
            let end = min(start + longest, data.count)
            let operation: AdvertisingDataFragment.Operation =
                start == 0 ? .first : end == data.count ? .last : .intermediate
            return AdvertisingDataFragment(operation: operation, data: Array(data[start..<end]))
        }
    }
}

extension AdvertisingPHY {
    /// The set that contains only this PHY.
    fileprivate var set: LEPHYs {
        switch self {
        case .le1M: .le1M
        case .le2M: .le2M
        case .leCoded: .leCoded
        }
    }
}
