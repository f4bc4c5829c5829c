import BluetoothBase
import BluetoothHCI

/// The connection request that an initiator sends to an advertiser.
struct ConnectionRequest {
    let initiator: InitiatingState
    let parameters: ConnectionTiming
    let central: Int
    let centralAddress: DeviceAddress
    let peripheral: Int
    /// The advertising set that this request answers; nil if it is sent in a subevent of periodic advertising.
    let advertisingSlot: Int?
    /// The peripheral, as the central knows it.
    let peer: SeenDevice
    let phy: LEPHY
}

extension Air {
    /// Delivers a connectable advertising event to an initiator. Returns true if the initiator responded and the link
    /// exists, which ends the advertising (Core 5.4, Vol 6, Part B, 4.4.4 and 4.5).
    mutating func connect(
        _ central: Int, to peripheral: Int, _ slot: Int, _ address: DeviceAddress, at time: Instant
    ) -> Bool {
        guard let initiator = controllers[central].settings.initiator, areInRange(central, peripheral),
            let parameters = initiator.parameters(
                for: controllers[peripheral].settings.advertisers[slot], at: time),
            let advertiser = controllers[central].device(at: address),
            let centralAddress = controllers[central].ownAddress(
                initiator.ownAddressType, towards: advertiser.lastingAddress),
            accepts(initiator, of: central, peripheral, slot, advertiser),
            answers(peripheral, slot, centralAddress)
        else { return false }
        let request = ConnectionRequest(
            initiator: initiator, parameters: parameters, central: central, centralAddress: centralAddress,
            peripheral: peripheral, advertisingSlot: slot, peer: advertiser,
            phy: controllers[peripheral].settings.advertisers[slot].dataPHY)
        guard send(request, at: time) else { return false }
        stopAdvertising(peripheral, slot)
        open(request, isReceived: true, at: time)
        return true
    }

    /// Ends the initiating state. Returns false if the request does not reach the peripheral.
    mutating func send(_ request: ConnectionRequest, at time: Instant) -> Bool {
        controllers[request.central].settings.initiator = nil
        if controllers[request.central].faults.failingConnections > 0 {
            controllers[request.central].faults.failingConnections -= 1
        } else if !controllers[request.peripheral].faults.ignoresConnectionRequests {
            return true
        }
        open(request, isReceived: false, at: time)
        return false
    }

    /// Whether the initiator, which receives this advertiser, is waiting for it.
    private func accepts(
        _ initiator: InitiatingState, of central: Int, _ peripheral: Int, _ slot: Int, _ device: SeenDevice
    ) -> Bool {
        let advertiser = controllers[peripheral].settings.advertisers[slot]
        guard controllers[central].freeConnectionSlot != nil else { return false }
        if advertiser.isDirected {
            let target = controllers[peripheral].targetAddress(of: advertiser)
            guard controllers[central].isAddressed(by: target, from: device, initiator.ownAddressType) else {
                return false
            }
        }
        guard let peer = initiator.peerAddress else {
            return controllers[central].settings.filterAcceptList.contains(device.lastingAddress)
        }
        return peer.unresolved == device.lastingAddress
    }

    /// Whether the advertiser accepts a connection from this address.
    private func answers(_ peripheral: Int, _ slot: Int, _ centralAddress: DeviceAddress) -> Bool {
        let advertiser = controllers[peripheral].settings.advertisers[slot]
        guard controllers[peripheral].freeConnectionSlot != nil,
            let device = controllers[peripheral].device(at: centralAddress),
            !advertiser.isDirected || controllers[peripheral].directs(advertiser, to: device)
        else { return false }
        return !advertiser.filtersConnections
            || controllers[peripheral].settings.filterAcceptList.contains(device.lastingAddress)
    }

    /// Creates the link and notifies the hosts. If the peripheral did not receive the request, only the central has the
    /// link, and closes it after six intervals (Vol 6, Part B, 4.5).
    mutating func open(_ request: ConnectionRequest, isReceived: Bool, at time: Instant) {
        let central = request.central, peripheral = request.peripheral, parameters = request.parameters
        let slot = links.firstIndex { !$0.isInUse } ?? links.count
        guard let centralHandle = controllers[central].takeConnectionSlot(for: slot) else { return }
        let peripheralHandle = isReceived ? controllers[peripheral].takeConnectionSlot(for: slot) : nil
        var link = AirLink(
            central: LinkEnd(
                controller: central, address: request.centralAddress, handle: centralHandle, isOpen: true,
                preferredOctets: controllers[central].settings.suggestedDataLength.octets),
            peripheral: LinkEnd(
                controller: peripheral, address: request.peer.address, handle: peripheralHandle ?? ConnectionHandle(0),
                isOpen: peripheralHandle != nil,
                preferredOctets: controllers[peripheral].settings.suggestedDataLength.octets),
            parameters: parameters, anchor: time.advanced(nanoseconds: Self.transmitWindowDelay),
            maximumExchangesPerEvent: min(
                controllers[central].configuration.maximumExchangesPerEvent,
                controllers[peripheral].configuration.maximumExchangesPerEvent))
        link.central.transmitPHY = request.phy
        link.peripheral.transmitPHY = request.phy
        link.central.syncTransfer = controllers[central].settings.synchronizer.transfer
        link.peripheral.syncTransfer = controllers[peripheral].settings.synchronizer.transfer
        controllers[central].reportConnection(
            .central, centralHandle, peer: request.peer,
            as: controllers[central].privateAddress(
                request.initiator.ownAddressType, towards: request.peer.lastingAddress),
            parameters)
        if let peripheralHandle, let device = controllers[peripheral].device(at: request.centralAddress) {
            let set = request.advertisingSlot.map { controllers[peripheral].settings.advertisers[$0].parameters }
            controllers[peripheral].reportConnection(
                .peripheral, peripheralHandle, peer: device,
                as: set.flatMap {
                    controllers[peripheral].privateAddress($0.ownAddressType, towards: $0.peerAddress)
                }, parameters)
            if let advertisingSlot = request.advertisingSlot, advertisingSlot > 0 {
                controllers[peripheral].reportSetTerminated(advertisingSlot, .success, peripheralHandle)
            }
            scheduleInitialDataLengthUpdate(on: &link)
        } else {
            link.lossReason = .connectionFailedToBeEstablished
            link.supervisionDeadline = time.advanced(nanoseconds: 6 * parameters.intervalNanoseconds)
        }
        if slot == links.count { links.append(link) } else { links[slot] = link }
        reschedule(slot)
    }

    /// From the connection request to the first connection event, in nanoseconds (Vol 6, Part B, 4.5.3).
    private static let transmitWindowDelay: UInt64 = 2_500_000

    /// A controller whose host suggested longer packets requests them automatically (Vol 4, Part E, 7.8.35).
    private func scheduleInitialDataLengthUpdate(on link: inout AirLink) {
        guard max(link.central.preferredOctets, link.peripheral.preferredOctets) > LinkEnd.minimumOctets else { return }
        let initiator: LinkRole = link.central.preferredOctets > LinkEnd.minimumOctets ? .central : .peripheral
        link.schedule(.dataLengthUpdate, from: initiator, at: link.event(after: link.anchor, for: initiator))
    }
}
