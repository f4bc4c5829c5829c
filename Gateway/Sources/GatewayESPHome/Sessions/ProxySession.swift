import BluetoothLE
import Foundation
import SwiftProtobuf
import Synchronization

/// The session of one client: its subscriptions, and the devices that it has connected to.
final class ProxySession: Sendable {
    /// The environment that all sessions share.
    struct Surroundings: Sendable {
        var radio: any ProxyRadio
        var identity: ProxyIdentity
        var isEncrypted: Bool
        /// Seconds since 1970.
        var time: @Sendable () -> UInt32
        var registry: ProxyRegistry
        /// Gives a client a place. Returns false if none is free.
        var admit: @Sendable (ProxyClientID, _ name: String) -> Bool
        /// Called when a client has changed the scan mode, so that all clients can be notified.
        var scanningChanged: @Sendable () -> Void
    }

    /// The consequence of a message for its client.
    enum Verdict: Equatable {
        case goOn
        /// The client has sent its hello, and has a place.
        case welcome
        /// The client has sent its hello, but no place is free: the client is asked to disconnect.
        case noPlace
        /// The client wants to disconnect.
        case leave
        /// The client is asked to disconnect.
        case refuse(reason: String)
    }

    private struct State {
        var answers: ProxyAnswers
        var isWelcome = false
        var wantsAdvertisements = false
        var wantsPlaces = false
        var hasSetMode = false
        var isEnded = false
        var batch: [APIBluetoothLERawAdvertisement] = []
        var devices: [UInt64: ProxyDevice] = [:]
        /// The number of devices, including those whose connections are ending.
        var deviceCount = 0
        /// The number of pending answers that need no connection.
        var owedAnswers = 0
    }

    /// The maximum number of devices that a client may have requested at a time.
    static let deviceLimit = 32
    /// The maximum number of pending answers, apart from those of the client's devices.
    static let owedAnswerLimit = 32
    /// A batch of advertisements is sent when it has this size, or when `flush` is called.
    static let batchLimit = 16

    let client: ProxyClientID
    private let surroundings: Surroundings
    private let state: Mutex<State>

    init(_ client: ProxyClientID, _ surroundings: Surroundings, send: @escaping @Sendable (Frame) -> Void) {
        self.client = client
        self.surroundings = surroundings
        state = Mutex(State(answers: ProxyAnswers(send: send, usesShortUUIDs: false)))
    }

    private var radio: any ProxyRadio { surroundings.radio }
    private var answers: ProxyAnswers { state.withLock { $0.answers } }

    /// Whether the client has sent its hello, and has a place.
    var isWelcome: Bool { state.withLock { $0.isWelcome } }

    // MARK: - Messages

    /// Handles a message. Calls must not overlap.
    func receive(_ frame: Frame) -> Verdict {
        guard isWelcome || frame.type == .helloRequest else {
            return .refuse(reason: "message \(frame.type.rawValue) arrived before its hello")
        }
        do {
            return try take(frame)
        } catch {
            return .refuse(reason: "message \(frame.type.rawValue) is malformed")
        }
    }

    private func take(_ frame: Frame) throws -> Verdict {
        switch frame.type {
        case .helloRequest: return welcome(try APIHelloRequest(serializedBytes: frame.payload))
        // The API no longer has passwords, so every authentication request succeeds.
        case .authenticationRequest: answers.tell(.authenticationResponse, APIAuthenticationResponse())
        case .disconnectRequest:
            answers.tell(.disconnectResponse, APIEmpty())
            return .leave
        case .disconnectResponse: return .leave
        case .pingRequest: answers.tell(.pingResponse, APIEmpty())
        case .deviceInfoRequest:
            answers.tell(
                .deviceInfoResponse,
                surroundings.identity.information(features, isEncrypted: surroundings.isEncrypted))
        case .deviceCapabilitiesRequest:
            answers.tell(
                .deviceCapabilitiesResponse,
                APIDeviceCapabilitiesResponse.with {
                    $0.bluetoothProxy.featureFlags = features.rawValue
                    $0.bluetoothProxy.macAddress = surroundings.identity.addressText
                })
        case .listEntitiesRequest: answers.tell(.listEntitiesDone, APIEmpty())
        case .getTimeRequest:
            answers.tell(.getTimeResponse, APIGetTimeResponse.with { $0.epochSeconds = surroundings.time() })
        case .subscribeAdvertisements:
            state.withLock { $0.wantsAdvertisements = true }
            answers.scanning(radio.scanning)
        case .unsubscribeAdvertisements:
            state.withLock { state in
                state.wantsAdvertisements = false
                state.batch = []
            }
        case .scannerSetMode:
            setMode(isActive: try APIBluetoothScannerSetModeRequest(serializedBytes: frame.payload).mode == .active)
        case .subscribeConnectionsFree:
            state.withLock { $0.wantsPlaces = true }
            answers.places(radio.places)
        default: try takeRequest(frame)
        }
        return .goOn
    }

    private var features: ProxyIdentity.Features { .init(allowsPairing: radio.allowsPairing) }

    private func welcome(_ hello: APIHelloRequest) -> Verdict {
        // Before the answer: a client that receives one has its place.
        let isNew = !isWelcome
        if isNew, !surroundings.admit(client, hello.clientInfo) { return .noPlace }
        state.withLock { state in
            state.isWelcome = true
            // Older clients do not recognize short UUIDs.
            let version = (hello.apiVersionMajor, hello.apiVersionMinor)
            state.answers = ProxyAnswers(send: state.answers.send, usesShortUUIDs: version >= (1, 12))
        }
        answers.tell(
            .helloResponse,
            APIHelloResponse.with {
                $0.apiVersionMajor = ProxyIdentity.api.major
                $0.apiVersionMinor = ProxyIdentity.api.minor
                $0.serverInfo = "ble-gateway \(surroundings.identity.version)"
                $0.name = surroundings.identity.name
            })
        return isNew ? .welcome : .goOn
    }

    private func setMode(isActive: Bool) {
        let isOpen = state.withLock { state in
            state.hasSetMode = !state.isEnded
            return !state.isEnded
        }
        // After the end, nothing would withdraw the request.
        guard isOpen else { return }
        radio.scan(isActive: isActive, for: client)
        surroundings.scanningChanged()
    }

    // MARK: - Devices

    private func takeRequest(_ frame: Frame) throws {
        switch frame.type {
        case .deviceRequest: request(try APIBluetoothDeviceRequest(serializedBytes: frame.payload))
        case .getServicesRequest:
            let request = try APIBluetoothAddressRequest(serializedBytes: frame.payload)
            add(.discover, request.address, 0)
        case .readRequest, .readDescriptorRequest:
            let request = try APIBluetoothGATTHandle(serializedBytes: frame.payload)
            add(request.address, request.handle) { .read($0) }
        case .writeRequest:
            let request = try APIBluetoothGATTWriteRequest(serializedBytes: frame.payload)
            add(request.address, request.handle) {
                .write($0, Array(request.data), isAnswered: request.response)
            }
        case .writeDescriptorRequest:
            let request = try APIBluetoothGATTValue(serializedBytes: frame.payload)
            add(request.address, request.handle) { .write($0, Array(request.data), isAnswered: true) }
        case .notifyRequest:
            let request = try APIBluetoothGATTNotifyRequest(serializedBytes: frame.payload)
            add(request.address, request.handle) { .notify($0, isOn: request.enable) }
        case .setConnectionParameters:
            let request = try APIBluetoothSetConnectionParametersRequest(serializedBytes: frame.payload)
            guard let device = device(request.address) else {
                return answers.parametersUpdated(Self.address(request.address), .notConnected)
            }
            if !device.add(.updateParameters(request.parameters)) { answers.parametersUpdated(device.address, .busy) }
        // A proxy does not use any other messages, and each version of the API adds more.
        default: return
        }
    }

    private func request(_ request: APIBluetoothDeviceRequest) {
        let address = request.deviceAddress, addresses = request.addresses(connected: device(request.address)?.address)
        switch request.requestType {
        case .connect, .connectWithCache, .connectWithoutCache: connect(address)
        case .disconnect:
            // The answer is sent when the connection has ended.
            if let device = device(address.value) { device.end() } else { answers.disconnected(address, .notConnected) }
        case .pair:
            guard radio.allowsPairing else { return answers.paired(address, .insufficientAuthorization) }
            guard let device = device(address.value) else { return answers.paired(address, .notConnected) }
            if !device.add(.pair) { answers.paired(address, .busy) }
        case .unpair:
            guard radio.allowsPairing else {
                return answers.succeeded(.unpairing, address, .insufficientAuthorization)
            }
            answer(.unpairing, address, addresses) { radio, device throws(ProxyError) in
                try await radio.unpair(device)
            }
        case .clearCache:
            answer(.clearCache, address, addresses) { radio, device throws(ProxyError) in
                try await radio.forgetServices(of: device)
            }
        case .UNRECOGNIZED: return
        }
    }

    private func connect(_ address: DeviceAddress) {
        let answers = answers
        let (device, earlier, isNew) = state.withLock { state -> (ProxyDevice?, ProxyDevice?, Bool) in
            if let own = state.devices[address.value], !own.isEnding { return (own, nil, false) }
            guard state.deviceCount < Self.deviceLimit, !state.isEnded else { return (nil, nil, false) }
            let device = ProxyDevice(address, radio, for: client, answers)
            state.devices[address.value] = device
            state.deviceCount += 1
            return (device, surroundings.registry.replace(with: device), true)
        }
        guard let device else { return answers.disconnected(address, .busy) }
        guard isNew else {
            if !device.add(.connect) { answers.disconnected(address, .busy) }
            return
        }
        device.begin(after: earlier) { [weak self] device in self?.ended(device) }
    }

    private func ended(_ device: ProxyDevice) {
        surroundings.registry.remove(device)
        state.withLock { state in
            state.deviceCount -= 1
            if state.devices[device.address.value] === device { state.devices[device.address.value] = nil }
        }
    }

    /// Performs a request that needs no connection for each address that it may refer to. Answers whether it succeeded
    /// for any of them.
    private func answer(
        _ type: MessageType, _ address: DeviceAddress, _ addresses: [DeviceAddress],
        _ body: @escaping @Sendable (any ProxyRadio, DeviceAddress) async throws(ProxyError) -> Void
    ) {
        let radio = radio, answers = answers
        let hasRoom = state.withLock { state in
            guard state.owedAnswers < Self.owedAnswerLimit else { return false }
            state.owedAnswers += 1
            return true
        }
        guard hasRoom else { return answers.succeeded(type, address, .busy) }
        Task { [weak self] in
            var failures: [ProxyError] = []
            for device in addresses {
                do throws(ProxyError) { try await body(radio, device) } catch { failures.append(error) }
            }
            answers.succeeded(type, address, failures.count == addresses.count ? failures.first : nil)
            self?.state.withLock { $0.owedAnswers -= 1 }
        }
    }

    private func device(_ address: UInt64) -> ProxyDevice? { state.withLock { $0.devices[address] } }

    private func add(_ address: UInt64, _ handle: UInt32, _ job: (AttributeHandle) -> ProxyDevice.Job) {
        guard let value = UInt16(exactly: handle), value > 0 else {
            return answers.failed(Self.address(address), UInt16(clamping: handle), ProxyError(code: 0x01))
        }
        add(job(AttributeHandle(value)), address, value)
    }

    private func add(_ job: ProxyDevice.Job, _ address: UInt64, _ handle: UInt16) {
        guard let device = device(address) else {
            return answers.failed(Self.address(address), handle, .notConnected)
        }
        if !device.add(job) { answers.failed(device.address, handle, .busy) }
    }

    private static func address(_ value: UInt64) -> DeviceAddress { DeviceAddress(value, kind: .public) }

    // MARK: - Subscriptions

    /// Adds an advertisement to the batch if the client has subscribed, and sends the batch if it is full.
    func advertise(_ advertisement: APIBluetoothLERawAdvertisement) {
        let isFull = state.withLock { state in
            guard state.wantsAdvertisements else { return false }
            state.batch.append(advertisement)
            return state.batch.count >= Self.batchLimit
        }
        if isFull { flush() }
    }

    /// Sends the batch of advertisements.
    func flush() {
        let (batch, answers) = state.withLock { state in
            defer { state.batch = [] }
            return (state.batch, state.answers)
        }
        guard !batch.isEmpty else { return }
        answers.tell(
            .rawAdvertisements, APIBluetoothLERawAdvertisementsResponse.with { $0.advertisements = batch })
    }

    /// Reports that places were taken or returned, if the client has subscribed.
    func placesChanged() {
        let answers = state.withLock { $0.wantsPlaces ? $0.answers : nil }
        answers?.places(radio.places)
    }

    func scanningChanged() {
        let answers = state.withLock { $0.wantsAdvertisements ? $0.answers : nil }
        answers?.scanning(radio.scanning)
    }

    // MARK: - The end

    /// Ends everything that the client has requested, after it has disconnected.
    func leave() {
        let (devices, hadSetMode) = state.withLock { state in
            defer { state.hasSetMode = false }
            state.isEnded = true
            state.wantsAdvertisements = false
            state.wantsPlaces = false
            return (Array(state.devices.values), state.hasSetMode)
        }
        if hadSetMode {
            radio.scan(isActive: nil, for: client)
            surroundings.scanningChanged()
        }
        for device in devices { device.end() }
    }

    /// Like `leave`, but returns when everything has ended.
    func end() async {
        leave()
        for device in state.withLock({ Array($0.devices.values) }) { await device.waitForEnd() }
    }
}
