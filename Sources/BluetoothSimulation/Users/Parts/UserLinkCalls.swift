import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothUsers

/// Calls about a link itself, during its lifetime or afterwards.
final class UserLinkCalls: UserPart {
    let context: UserContext

    init(_ context: UserContext) { self.context = context }

    func disconnect(_ link: UserLink) {
        run.disconnects.insert(.init(station: station, peer: link.peer))
        post(.disconnect(link.identifier, reason: nil), CallLedger.Call(kind: .disconnect, link: link.identifier))
    }

    func pause(_ link: UserLink) {
        links.pause(link.identifier, true)
        run.hasHeld.insert(station)
        post(.holdReceiving(link.identifier))
    }

    func resume(_ link: UserLink) {
        guard link.isPaused else { return }
        links.pause(link.identifier, false)
        post(.resumeReceiving(link.identifier))
    }

    func readRSSI(_ link: UserLink) {
        post(.readRSSI(link.identifier), CallLedger.Call(kind: .readRSSI, link: link.identifier))
    }

    func updateParameters(_ link: UserLink, _ pick: inout SeededGenerator) {
        let interval = UInt16(6 + pick.below(30))
        let parameters = ConnectionParameters(
            intervalMin: interval, intervalMax: interval + 8, latency: UInt16(pick.below(2)), timeout: 400)
        post(
            .updateParameters(link.identifier, parameters),
            CallLedger.Call(kind: .updateParameters, link: link.identifier))
    }

    /// Uses a link that has ended.
    func useFormerLink(_ pick: inout SeededGenerator) {
        guard let link = pick.element(of: links.former) else { return }
        let call = CallLedger.Call(kind: .useFormerLink, link: link)
        switch pick.below(4) {
        case 0: post(.perform(link, .read(3)), call)
        case 1: post(.readRSSI(link), call)
        case 2: post(.write(link, 3, [1]), call)
        default: post(.disconnect(link, reason: nil), call)
        }
    }
}
