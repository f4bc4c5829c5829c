import BluetoothGATT
import BluetoothHost
import BluetoothUsers
import BusObjects
import DBus
import Glibc

extension RemoteCharacteristic {
    func acquireWrite(_ call: MethodCall) throws(BusError) {
        guard let link = device.link.identifier else { throw .failed("Not connected") }
        guard writePipe == nil else { throw .notPermitted("Write acquired") }
        guard properties.contains(.writeWithoutResponse) else { throw .notSupported }
        let client = try device.daemon.client(of: call)
        let handle = information.valueHandle
        let (pipe, clientEnd) = try AcquiredPipe.open(
            for: client,
            .fromClient { [weak self, weak client] receive in
                guard let client else { return true }
                let isAvailable = client.credits.tryTake(on: link) { self?.writePipe?.resume() }
                guard isAvailable else { return false }
                if let octets = receive() {
                    client.user.post(.writeWithoutResponse(link, handle, octets))
                } else {
                    client.credits.add(1, on: link)
                }
                return true
            }
        ) { [weak self] in
            self?.writePipe = nil
            self?.changed("WriteAcquired")
        }
        writePipe = pipe
        changed("WriteAcquired")
        give(clientEnd, call)
    }

    func acquireNotify(_ call: MethodCall) throws(BusError) {
        guard device.link.identifier != nil else { throw .failed("Not connected") }
        guard notifyPipe == nil else { throw .notPermitted("Notify acquired") }
        guard sessions.isEmpty else { throw .inProgress }
        guard canNotify else { throw .notSupported }
        let client = try device.daemon.client(of: call)
        switch subscription {
        case .active: giveNotifyPipe(call, client)
        case .starting: throw .inProgress
        case .none: subscribe(.acquire(call, client))
        }
    }

    func giveNotifyPipe(_ call: MethodCall, _ client: Client) {
        do throws(BusError) {
            let (pipe, clientEnd) = try AcquiredPipe.open(for: client, .toClient) { [weak self] in
                self?.notifyPipe = nil
                self?.changed("NotifyAcquired")
                self?.unsubscribeIfUnused()
            }
            notifyPipe = pipe
            changed("NotifyAcquired")
            give(clientEnd, call)
        } catch {
            call.fail(error)
        }
    }

    /// Answers with the client's end, which the message duplicates.
    private func give(_ clientEnd: Int32, _ call: MethodCall) {
        call.reply(.fileDescriptor(clientEnd), .uint16(UInt16(clamping: device.link.information?.mtu ?? 23)))
        close(clientEnd)
    }
}
