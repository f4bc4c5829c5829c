import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothSimulation

extension HostWorld {
    static let service: BluetoothUUID = "E07F0AE8-00BB-47F5-94F4-4A7174EA3032"
    static let characteristic: BluetoothUUID = "9D534E8B-2153-4F6D-B2B0-8C68665A7274"
}

extension HostEvent {
    var disconnection: (LinkIdentifier, String)? {
        if case .link(let link, .disconnected(let status)) = self { (link, "\(status)") } else { nil }
    }

    var completed: GATTClientResult? {
        if case .client(_, .operationEnded(.completed(_, let result))) = self { result } else { nil }
    }

    var isReady: Bool {
        if case .controller(.ready) = self { true } else { false }
    }
}
