import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHost
import BluetoothUsers
import Synchronization
import Testing
import VirtualRadio

import BluetoothAdapter

/// A user that notes what it is handed.
final class Witness: AdapterObserver {
    private struct State {
        var lines: [String] = []
        var links: [LinkIdentifier] = []
        var sightings: [Sighting] = []
        var published: GATTServiceHandles?
    }

    private let state = Mutex(State())
    let runner: AdapterRunner
    private let identifier = Mutex(UserID(number: 0))
    var user: UserID { identifier.withLock { $0 } }
    var links: [LinkIdentifier] { state.withLock { $0.links } }
    var sightings: [Sighting] { state.withLock { $0.sightings } }

    /// The only user of an adapter of its own.
    convenience init(on radio: VirtualRadio) throws {
        try self.init(AdapterRunner(radio.addController(), options: .init(host: HostConfiguration(seed: 1))))
    }

    init(_ runner: AdapterRunner) {
        self.runner = runner
        let user = runner.attach(self)
        identifier.withLock { $0 = user }
    }

    func post(_ kind: HostCall.Kind, _ token: UInt64 = 0) {
        runner.post(kind, token: CallToken(rawValue: token), from: user)
    }

    func publish(_ service: GATTServiceDefinition) -> GATTServiceHandles? {
        post(.publish(service, at: nil), 99)
        _ = take()
        return state.withLock { $0.published }
    }

    func take() -> [String] {
        state.withLock { state in
            defer { state.lines = [] }
            return state.lines
        }
    }

    func receive(_ batch: borrowing EventBatch) {
        for event in batch.events {
            let line = text(event, batch)
            state.withLock { state in
                if let line { state.lines.append(line) }
                switch event {
                case .linkBegan(let link, _): state.links.append(link)
                case .sightings(_, let range): state.sightings += batch.sightings[range]
                case .ended(_, .success(.published(let handles))): state.published = handles
                default: break
                }
            }
        }
    }

    private func text(_ event: UserEvent, _ batch: borrowing EventBatch) -> String? {
        switch event {
        case .adapter(let status): "\(status)" == "opening" ? nil : "\(status)"
        case .ended(let token, .success(let result)):
            switch result {
            case .done: "\(token.rawValue) done"
            case .link: "\(token.rawValue) link"
            default: "\(token.rawValue) result"
            }
        case .ended(let token, .failure(let error)): "\(token.rawValue) \(error)"
        case .linkBegan: "began"
        case .linkEnded(_, let reason): "ended: \(reason)"
        case .mtuChanged(_, let mtu): "mtu \(mtu)"
        case .sendCredit(_, let count): "credit \(count)"
        case .value(_, _, let payload): "value \(hex(batch.octets(of: payload)))"
        case .subscriptionChanged(_, let change):
            "subscription \(change.new.isEmpty ? "[]" : "[\(change.new.rawValue)]")"
        case .nameChanged(_, let name): "name \(name)"
        case .servicesKnown: "services"
        case .servicesChanged(_, let handles): "changed \(handles)"
        case .sightings, .subscriptionBegan: nil
        default: "\(event)"
        }
    }

    private func hex(_ bytes: Span<UInt8>) -> String {
        var text = ""
        for index in bytes.indices { text += hexadecimal(bytes[index], digits: 2) }
        return text
    }
}
