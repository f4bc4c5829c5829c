import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothUsers

/// Indications: how many may be pending on a link, and when they end.
extension UserSending {
    /// The maximum number of pending indications on a link.
    private static let indicationLimit = 4_096

    func indicate(to link: UserLink) {
        guard let handle = run.handle(of: .stream, at: station),
            subscribers.configuration(of: .stream, on: link.identifier)?.contains(.indications) == true
        else { return }
        let value = nextValue(.stream, isIndicated: true, link)
        var call = CallLedger.Call(kind: .indicate, link: link.identifier)
        call.indicated = SimulatedValue.Place(value.span)
        post(.indicate(link.identifier, handle, value), call)
    }

    /// Sends more indications than may be pending on a link. The host must refuse the rest.
    func indicateMany(to link: UserLink) {
        guard subscribers.configuration(of: .stream, on: link.identifier)?.contains(.indications) == true else {
            return
        }
        for _ in 0..<Self.indicationLimit + 100 { indicate(to: link) }
        context.schedule(after: .milliseconds(1)) { [self] in
            let waiting = openIndications(on: link.identifier)
            // A suspended process has not refused any yet.
            if waiting > Self.indicationLimit, !run.hasFaults(station) {
                fail(.bounds, "\(waiting) indications are waiting on a link")
            }
        }
    }

    private func openIndications(on link: LinkIdentifier) -> Int {
        calls.open.values.count { $0.kind == .indicate && $0.link == link }
    }

    /// Whether an indication may be refused because of the number pending on its link. Some may have ended since.
    func hasManyIndications(_ call: CallLedger.Call) -> Bool {
        call.link.map { openIndications(on: $0) > Self.indicationLimit / 2 } ?? false
    }

    /// Checks that an indication ends only after its confirmation (Core 5.4, Vol 3, Part F, 3.4.7.2).
    func checkConfirmed(_ call: CallLedger.Call) {
        guard let indicated = call.indicated, let link = call.link.flatMap({ links[$0] }), !run.isDamaged(station),
            !run.isTainted(link.peer), !run.world.stations[station].inspector.isConfirmed(indicated)
        else { return }
        fail(
            .oneIndication,
            "value \(indicated.number) of stream \(indicated.stream) was reported as confirmed, but was not confirmed")
    }
}
