import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHost
import Synchronization
import Testing
import VirtualRadio

import BluetoothAdapter

/// Two adapters on one radio whose time is manual: everything happens on the test's own thread.
struct RunnerTests {
    let radio = VirtualRadio(time: .manual)

    private func open() throws -> Witness {
        try Witness(AdapterRunner(radio.addController(), options: .init(host: HostConfiguration(seed: 1))))
    }

    @Test("Finds, connects, subscribes and is sent a value, in one order")
    func value() throws {
        let sensor = try open(), phone = try open()
        #expect(sensor.take() == ["ready"])
        #expect(phone.take() == ["ready"])

        let service = GATTServiceDefinition(
            uuid: "180D", characteristics: [.init(uuid: "2A37", properties: [.notify])])
        let handles = try #require(sensor.publish(service)?.characteristics.first)
        var advertisement = AdvertisementData()
        advertisement.serviceUUIDs = ["180D"]
        sensor.post(.advertise(AdvertisingRequest(advertisement)), 2)
        radio.advanceHosts(by: .milliseconds(1))
        #expect(sensor.take() == ["2 done"])

        phone.post(.scan(ScanFilter(services: ["180D"]), ScanParameters()), 1)
        radio.advanceHosts(by: .seconds(1))
        let seen = try #require(phone.sightings.first)
        phone.post(.cancel, 1)
        _ = phone.take()

        phone.post(.connect(PeerID(seen.address), ConnectRequest(timeout: .seconds(5))), 3)
        radio.advanceHosts(by: .seconds(2))
        let link = try #require(phone.links.first)
        #expect(phone.take().filter { !$0.hasPrefix("name") && !$0.hasPrefix("services") }.prefix(4) == [
            "began", "credit 64", "mtu 517", "3 link",
        ])

        let request = SubscriptionRequest(
            characteristic: handles.value, end: AttributeHandle(handles.value.rawValue + 1),
            configuration: .notifications)
        phone.post(.subscribe(link, request), 4)
        radio.advanceHosts(by: .seconds(1))
        #expect(phone.take().last == "4 done")
        let central = try #require(sensor.links.first)
        #expect(sensor.take().last == "subscription [1]")

        sensor.post(.notify(central, handles.value, [1, 2, 3]))
        radio.advanceHosts(by: .seconds(1))
        #expect(sensor.take() == ["credit 1"])
        #expect(phone.take() == ["value 010203"])

        phone.post(.release(link))
        radio.advanceHosts(by: .seconds(1))
        #expect(phone.take() == ["ended byThisDevice"])
        #expect(sensor.take() == ["subscription []", "ended byPeer"])
    }

    @Test("A closed adapter ends what is pending, and takes nothing more")
    func closing() throws {
        let phone = try open()
        _ = phone.take()
        phone.post(.connect(PeerID(DeviceAddress(5, kind: .public)), ConnectRequest()), 1)
        phone.runner.close()
        #expect(phone.take() == ["1 adapterRemoved", "lost", "closed"])
        #expect(!phone.runner.post(.cancel, token: CallToken(rawValue: 1), from: phone.user))
        #expect(phone.runner.failure == .adapterClosed)
    }

    @Test("An unplugged controller is taken up again when it is back")
    func unplugging() throws {
        let port = radio.addController()
        let phone = try Witness(AdapterRunner(port, options: .init(host: HostConfiguration(seed: 1))))
        port.unplug()
        #expect(phone.take() == ["ready", "lost"])
        radio.advanceHosts(by: .seconds(60))
        #expect(phone.take() == [])
        port.plugIn()
        radio.advanceHosts(by: .seconds(10))
        #expect(phone.take() == ["ready"])
        #expect(phone.runner.failure == nil)
    }
}

/// A user that notes what it is handed.
private final class Witness: AdapterObserver {
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
                case .sighting(_, let index): state.sightings.append(batch.sightings[index])
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
        case .ended(let token, .failure(let error)): "\(token.rawValue) \(String(reflecting: error).suffix(14))"
        case .linkBegan: "began"
        case .linkEnded(_, let reason): "ended \("\(String(reflecting: reason))".split(separator: ".").last ?? "")"
        case .mtuChanged(_, let mtu): "mtu \(mtu)"
        case .sendCredit(_, let count): "credit \(count)"
        case .value(_, _, let payload): "value \(hex(batch.bytes(of: payload)))"
        case .subscriptionChanged(_, let change): "subscription \(change.new.isEmpty ? "[]" : "[\(change.new.rawValue)]")"
        case .nameChanged(_, let name): "name \(name)"
        case .servicesKnown: "services"
        case .sighting: nil
        default: "\(event)"
        }
    }

    private func hex(_ bytes: Span<UInt8>) -> String {
        var text = ""
        for index in bytes.indices { text += hexadecimal(bytes[index], digits: 2) }
        return text
    }
}
