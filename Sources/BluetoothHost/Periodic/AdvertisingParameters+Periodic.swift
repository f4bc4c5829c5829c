import BluetoothBase
import BluetoothHCI

/// The commands that start periodic advertising (Core 5.4, Vol 4, Part E, 7.8.61 to 7.8.63).
extension AdvertisingParameters {
    /// Whether the periodic advertising is valid for a set with these parameters.
    var isPeriodicValid: Bool {
        guard let periodic else { return true }
        return extended?.isAnonymous == false && !isConnectable && !isScannable && periodic.isValid
    }

    /// The reason why a controller cannot provide the periodic advertising; nil if it can.
    func periodicObstacle(_ radio: RadioFeatures) -> HostError? {
        guard let periodic else { return nil }
        guard radio.periodic.contains(periodic.responses == nil ? .advertising : .advertisingWithResponses) else {
            return .unsupported(periodic.responses == nil ? .periodicAdvertising : .periodicResponses)
        }
        return periodic.data.count > radio.maximumDataLength
            ? .advertisingDataTooLong(limit: radio.maximumDataLength) : nil
    }

    /// The commands that start periodic advertising, in order. They take effect when the set is enabled.
    func periodicCommands(for handle: AdvertisingHandle) -> [any HCICommand] {
        guard let periodic else { return [] }
        var commands: [any HCICommand] = [periodic.parametersCommand(for: handle)]
        commands += Self.fragments(periodic.data, of: LESetPeriodicAdvertisingData.maximumLength).map {
            LESetPeriodicAdvertisingData(advertisingHandle: handle, operation: $0.operation, data: $0.data)
        }
        let enabling: PeriodicAdvertisingEnabling =
            periodic.includesDataIdentifier ? [.enabled, .includesADI] : .enabled
        commands.append(LESetPeriodicAdvertisingEnable(enabling: enabling, advertisingHandle: handle))
        return commands
    }

    /// The command that changes the parameters from `current` to these while the set is on the air, so that receivers
    /// stay synchronized; nil if the set has to start over. Data that needs more than one command cannot be changed on
    /// the air (7.8.62).
    func update(
        from current: AdvertisingParameters, of handle: AdvertisingHandle
    ) -> LESetPeriodicAdvertisingData? {
        // A duration counts from the moment at which the set is enabled.
        guard limit == nil, let data = periodic?.data, data.count <= LESetPeriodicAdvertisingData.maximumLength else {
            return nil
        }
        var same = current
        same.periodic?.data = data
        guard same == self, current != self else { return nil }
        return LESetPeriodicAdvertisingData(advertisingHandle: handle, data: data)
    }
}

extension PeriodicAdvertising {
    fileprivate func parametersCommand(for handle: AdvertisingHandle) -> any HCICommand {
        let shortest = ConnectionInterval(
            rawValue: UInt16(clamping: interval.lowerBound.units(of: Self.unit, roundingUp: true)))
        let longest = max(
            shortest, ConnectionInterval(rawValue: UInt16(clamping: interval.upperBound.units(of: Self.unit))))
        let properties: PeriodicAdvertisingProperties = includesTransmitPower ? .includesTransmitPower : []
        guard let responses else {
            return LESetPeriodicAdvertisingParameters(
                advertisingHandle: handle, intervalMin: shortest, intervalMax: longest, properties: properties)
        }
        return LESetPeriodicAdvertisingParametersV2(
            advertisingHandle: handle, intervalMin: shortest, intervalMax: longest, properties: properties,
            subeventCount: UInt8(clamping: responses.count),
            subeventInterval: UInt8(clamping: responses.interval.units(of: Self.unit)),
            responseSlotDelay: UInt8(clamping: responses.responseSlotDelay.units(of: Self.unit)),
            responseSlotSpacing: UInt8(clamping: responses.responseSlotSpacing.units(of: PeriodicSubevents.slotUnit)),
            responseSlotCount: UInt8(clamping: responses.responseSlotCount))
    }
}

extension Duration {
    /// The number of complete units.
    fileprivate func units(of unit: Duration, roundingUp: Bool = false) -> Int64 {
        (nanoseconds + (roundingUp ? unit.nanoseconds - 1 : 0)) / unit.nanoseconds
    }
}
