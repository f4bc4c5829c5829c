import BluetoothGATT
import BluetoothHost
import BluetoothUsers
import BusObjects
import DBus

extension RemoteCharacteristic {
    // MARK: - Reading

    func read(_ call: MethodCall) throws(BusError) {
        guard let link = device.link.identifier else { throw .failed("Not connected") }
        let options = try ValueOptions(call.arguments[0])
        let client = try device.daemon.client(of: call)
        if reading != nil {
            guard reading?.offset == options.offset else { throw .inProgress }
            reading?.calls.append((call, client))
            return
        }
        let pending = PendingRead(client: client, offset: options.offset, calls: [(call, client)])
        reading = pending
        read(pending, on: link)
    }

    private func read(_ pending: PendingRead, on link: LinkIdentifier) {
        let operation = GATTClientOperation.readLong(information.valueHandle, offset: pending.offset)
        pending.client.user.call(.perform(link, operation), keepsOrder: false) { [weak self] result in
            guard let self, let reading, reading.client === pending.client else { return }
            self.reading = nil
            switch result {
            case .success(.gatt(.value(let octets))):
                store(octets, at: Int(reading.offset))
                reading.succeed(octets)
            case .success: reading.fail(.failed("Operation failed"))
            case .failure(let error): reading.fail(.attribute(error))
            }
        }
    }

    /// The client that reads is gone. Another client that waits for the value reads it.
    func passReading() {
        guard var pending = reading, let link = device.link.identifier else { return }
        guard let next = pending.calls.first else {
            reading = nil
            return
        }
        pending.client = next.client
        reading = pending
        read(pending, on: link)
    }

    // MARK: - Writing

    func write(_ call: MethodCall) throws(BusError) {
        guard let link = device.link.identifier else { throw .failed("Not connected") }
        guard writePipe == nil else { throw .notPermitted("Write acquired") }
        guard writer == nil else { throw .inProgress }
        let octets = call.arguments[0].octets ?? []
        let options = try ValueOptions(call.arguments[1])
        guard !options.isTypeUnknown else { throw .notSupported }
        let client = try device.daemon.client(of: call)
        switch options.type ?? preferredType {
        case .reliable:
            let value = AttributeValue(handle: information.valueHandle, value: octets)
            request(.perform(link, .writeReliably([value], offset: options.offset)), call, client)
        case .request:
            request(.write(octets, to: information.valueHandle, offset: options.offset, on: link), call, client)
        case .command:
            // A command has no offset.
            guard options.offset == 0 else { throw .notSupported }
            guard let mtu = device.link.information?.mtu, octets.count <= mtu - 3 else {
                throw .failed("Failed to initiate write")
            }
            send(octets, on: link, for: client) { isSent in
                if isSent { call.reply() } else { call.fail(.failed("Not connected")) }
            }
        case nil: throw .notSupported
        }
    }

    /// How a value is written if the client does not choose.
    private var preferredType: ValueOptions.WriteType? {
        if extended.contains(.reliableWrite) { return .reliable }
        if properties.contains(.write) { return .request }
        return properties.contains(.writeWithoutResponse) ? .command : nil
    }

    private func request(_ kind: HostCall.Kind, _ call: MethodCall, _ client: Client) {
        writer = client
        client.user.call(kind, keepsOrder: false) { [weak self] result in
            if self?.writer === client { self?.writer = nil }
            switch result {
            case .success: call.reply()
            case .failure(let error): call.fail(.attribute(error))
            }
        }
    }

    /// Sends a value without response when the client has a credit for it.
    func send(
        _ octets: [UInt8], on link: LinkIdentifier, for client: Client, _ completion: @escaping (Bool) -> Void
    ) {
        let handle = information.valueHandle
        client.credits.take(on: link) { [weak client] isAvailable in
            if isAvailable { client?.user.post(.writeWithoutResponse(link, handle, octets)) }
            completion(isAvailable)
        }
    }
}
