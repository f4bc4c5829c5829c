import BusObjects
import DBus

/// A read in progress. Further calls for the same offset share it, as in BlueZ.
struct PendingRead {
    /// The client whose user reads.
    var client: Client
    let offset: UInt16
    var calls: [(call: MethodCall, client: Client)]

    /// Removes the calls of a client that is gone.
    mutating func drop(_ client: Client) {
        for entry in calls where entry.client === client { entry.call.drop() }
        calls.removeAll { $0.client === client }
    }

    func succeed(_ octets: [UInt8]) {
        for entry in calls { entry.call.reply(.bytes(octets)) }
    }

    func fail(_ error: BusError) {
        for entry in calls { entry.call.fail(error) }
    }
}
