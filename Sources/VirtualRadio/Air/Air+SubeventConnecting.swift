import BluetoothBase
import BluetoothHCI

/// Connecting to a device that listens to a subevent (Core 5.4, Vol 6, Part B, 4.4.2.12.2).
extension Air {
    /// Sends a connection request instead of the subevent's data, if the host requested a connection in it.
    ///
    /// - Returns: whether the subevent was used for a connection request.
    mutating func connect(in subevent: UInt8, of train: TrainID, at time: Instant) -> Bool {
        let central = train.controller
        guard let initiator = controllers[central].settings.initiator, let place = initiator.subevent,
            place == (train.slot, subevent), let peer = initiator.peerAddress?.unresolved
        else { return false }
        let set = controllers[central].settings.advertisers[train.slot]
        controllers[central].settings.advertisers[train.slot].periodic.subevents[subevent] = nil
        let address = controllers[central].ownAddress(initiator.ownAddressType, towards: peer)
        var peripheral: Int?
        for receiver in controllers.indices where controllers[receiver].listens(to: train, in: subevent) {
            guard receive(train, at: receiver, at: time) != nil, let address,
                controllers[receiver].takes(requestFor: peer, from: address)
            else { continue }
            peripheral = peripheral ?? receiver
        }
        guard let peripheral, let address, let parameters = initiator[set.dataPHY]?.parameters else {
            // No device answered.
            controllers[central].settings.initiator = nil
            controllers[central].reportConnectionFailure(.connectionFailedToBeEstablished, role: .central)
            return true
        }
        let request = ConnectionRequest(
            initiator: initiator, parameters: parameters, central: central, centralAddress: address,
            peripheral: peripheral, advertisingSlot: nil,
            peer: controllers[central].device(at: peer) ?? SeenDevice(address: peer, identity: nil), phy: set.dataPHY)
        if send(request, at: time) { open(request, isReceived: true, at: time) }
        return true
    }
}

extension VirtualController {
    /// Whether the connection request is addressed to this controller, and it can have another link.
    fileprivate func takes(requestFor target: DeviceAddress, from central: DeviceAddress) -> Bool {
        guard freeConnectionSlot != nil, let device = device(at: central) else { return false }
        return [OwnAddressType.public, .random].contains { isAddressed(by: target, from: device, $0) }
    }
}
