import BluetoothLE

extension APIBluetoothDeviceRequest {
    /// The address. Without a type, it is public.
    var deviceAddress: DeviceAddress {
        DeviceAddress(address, kind: hasAddressType_p && addressType & 1 == 1 ? .random : .public)
    }

    /// The addresses that the request may refer to. Clients may state the type of an address only when they connect.
    ///
    /// - Parameter connected: the address of the client's connection to the device, if there is one.
    func addresses(connected: DeviceAddress?) -> [DeviceAddress] {
        if hasAddressType_p { return [deviceAddress] }
        if let connected { return [connected] }
        return [.public, .random].map { DeviceAddress(address, kind: $0) }
    }
}

extension APIBluetoothSetConnectionParametersRequest {
    /// The parameters, which the device or the controller may reject.
    var parameters: ConnectionParameters {
        ConnectionParameters(
            intervalMin: UInt16(clamping: minInterval), intervalMax: UInt16(clamping: maxInterval),
            latency: UInt16(clamping: latency), timeout: UInt16(clamping: timeout))
    }
}
