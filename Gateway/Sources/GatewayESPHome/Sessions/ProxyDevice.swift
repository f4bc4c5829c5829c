import BluetoothLE
import Synchronization

/// One device on behalf of one client, from the request to connect until the connection has ended. The client's
/// requests are performed one after the other.
final class ProxyDevice: Sendable {
    enum Job: Sendable {
        /// Reports again that there is a connection.
        case connect
        case discover
        case read(AttributeHandle)
        case write(AttributeHandle, [UInt8], isAnswered: Bool)
        case notify(AttributeHandle, isOn: Bool)
        case pair
        case updateParameters(ConnectionParameters)
    }

    /// The maximum number of waiting requests, and of characteristics whose values are passed on.
    static let jobLimit = 1024
    static let notifyLimit = 512

    private struct State {
        var task: Task<Void, Never>?
        var waiting = 0
        var notified: Set<AttributeHandle> = []
        /// The device's attributes, once they have been discovered on this connection.
        var database: DiscoveredDatabase?
        /// The Client Characteristic Configuration descriptors that the client has enabled. Without `database`, other
        /// attributes may be among them.
        var configured: Set<AttributeHandle> = []
        var isEnding = false
        /// The reason why the connection ended, if the device's side ended it.
        var end: ProxyError?
    }

    let address: DeviceAddress
    private let radio: any ProxyRadio
    private let client: ProxyClientID
    private let answers: ProxyAnswers
    private let jobs: (stream: AsyncStream<Job>, continuation: AsyncStream<Job>.Continuation)
    private let state = Mutex(State())

    init(_ address: DeviceAddress, _ radio: any ProxyRadio, for client: ProxyClientID, _ answers: ProxyAnswers) {
        self.address = address
        self.radio = radio
        self.client = client
        self.answers = answers
        jobs = AsyncStream.makeStream()
    }

    /// Begins to connect, once an earlier connection to the same device has ended.
    ///
    /// - Parameter ended: called when the connection has ended.
    func begin(after earlier: ProxyDevice?, ended: @escaping @Sendable (ProxyDevice) -> Void) {
        let task = Task {
            await earlier?.waitForEnd()
            await run()
            ended(self)
        }
        state.withLock { $0.task = task }
    }

    /// Adds a request. Returns false if too many are waiting.
    func add(_ job: Job) -> Bool {
        let isTaken = state.withLock { state in
            guard state.waiting < Self.jobLimit else { return false }
            state.waiting += 1
            return true
        }
        if isTaken { jobs.continuation.yield(job) }
        return isTaken
    }

    /// Ends the connection, or cancels the attempt to connect.
    func end() {
        let task = state.withLock { state in
            state.isEnding = true
            return state.task
        }
        task?.cancel()
    }

    /// Whether the client, or the device, has ended the connection.
    var isEnding: Bool { state.withLock { $0.isEnding } }

    func waitForEnd() async { await state.withLock { $0.task }?.value }

    // MARK: - The connection

    private func run() async {
        let link: any ProxyLink
        do throws(ProxyError) {
            if Task.isCancelled { throw .endedByThisDevice }
            link = try await radio.connect(to: address, for: client)
        } catch {
            state.withLock { $0.isEnding = true }
            return answers.disconnected(address, Task.isCancelled ? .endedByThisDevice : error)
        }
        let end = await serve(link)
        // In another task, because this one may be cancelled, and a cancelled task could not close the link.
        await Task { await link.close() }.value
        // In this order: if the client learned of the free place first, it would consider its connection lost.
        answers.disconnected(address, end)
        link.release()
    }

    private func serve(_ link: any ProxyLink) async -> ProxyError {
        guard let mtu = try? await link.mtu else { return .notEstablished }
        answers.connected(address, mtu: mtu)
        await withDiscardingTaskGroup { group in
            group.addTask { [self] in
                let reason = await link.forward { handle, value in
                    guard state.withLock({ $0.notified.contains(handle) }) else { return }
                    answers.notified(address, handle, value)
                }
                state.withLock { state in
                    state.end = reason
                    state.isEnding = true
                }
                jobs.continuation.finish()
            }
            for await job in jobs.stream {
                await perform(job, link, mtu)
                state.withLock { $0.waiting -= 1 }
            }
            group.cancelAll()
        }
        if Task.isCancelled { return .endedByThisDevice }
        return state.withLock { $0.end } ?? .endedByThisDevice
    }

    // MARK: - Requests

    private func perform(_ job: Job, _ link: any ProxyLink, _ mtu: Int) async {
        do throws(ProxyError) {
            try await carryOut(job, link, mtu)
        } catch {
            // The end of the connection is reported instead.
            guard !Task.isCancelled else { return }
            switch job {
            case .connect: return
            case .discover: answers.failed(address, 0, error)
            case .read(let handle), .write(let handle, _, _), .notify(let handle, _):
                answers.failed(address, handle.rawValue, error)
            case .pair: answers.paired(address, error)
            case .updateParameters: answers.parametersUpdated(address, error)
            }
        }
    }

    private func carryOut(_ job: Job, _ link: any ProxyLink, _ mtu: Int) async throws(ProxyError) {
        switch job {
        case .connect: answers.connected(address, mtu: mtu)
        case .discover:
            let database = try await link.discover()
            state.withLock { $0.database = database }
            try answers.discovered(address, database)
        case .read(let handle): answers.read(address, handle, try await link.read(handle))
        case .write(let handle, let value, true):
            try await link.write(value, to: handle)
            note(value, writtenTo: handle)
            answers.written(address, handle)
        case .write(let handle, let value, false): try await link.writeWithoutResponse(value, to: handle)
        case .notify(let handle, true):
            let isTaken = state.withLock { state in
                guard state.notified.count < Self.notifyLimit else { return false }
                state.notified.insert(handle)
                return true
            }
            guard isTaken else { throw .insufficientResources }
            answers.notifying(address, handle)
        case .notify(let handle, false):
            state.withLock { _ = $0.notified.remove(handle) }
            // Clients enable a configuration descriptor themselves, but do not disable it.
            if let descriptor = await configuration(of: handle, link) { try? await link.write([0, 0], to: descriptor) }
            answers.notifying(address, handle)
        case .pair:
            try await link.pair()
            answers.paired(address, nil)
        case .updateParameters(let parameters):
            try await link.updateParameters(parameters)
            answers.parametersUpdated(address, nil)
        }
    }

    /// Records which configuration descriptors are enabled.
    private func note(_ value: [UInt8], writtenTo handle: AttributeHandle) {
        state.withLock { state in
            if value.allSatisfy({ $0 == 0 }) {
                state.configured.remove(handle)
            } else if state.configured.count < Self.notifyLimit, Self.mayConfigure(handle, value, state.database) {
                state.configured.insert(handle)
            }
        }
    }

    /// Whether an attribute is, or may be, a configuration descriptor. The value of such a descriptor has two octets.
    private static func mayConfigure(
        _ handle: AttributeHandle, _ value: [UInt8], _ database: DiscoveredDatabase?
    ) -> Bool {
        guard let database else { return value.count == 2 }
        return database.descriptors.contains { $0.handle == handle && $0.uuid == configurationType }
    }

    /// Returns the configuration descriptor of a characteristic if the client has enabled it, and records it as
    /// disabled.
    private func configuration(of value: AttributeHandle, _ link: any ProxyLink) async -> AttributeHandle? {
        guard let database = await database(link),
            let characteristic = database.characteristics.first(where: { $0.valueHandle == value }),
            let descriptor = database.descriptors(of: characteristic).first(where: {
                $0.uuid == Self.configurationType
            })
        else { return nil }
        return state.withLock { $0.configured.remove(descriptor.handle) }
    }

    /// The device's attributes, if the client may have enabled a configuration descriptor. A client that remembers them
    /// from an earlier connection does not discover them. The library usually remembers them too.
    private func database(_ link: any ProxyLink) async -> DiscoveredDatabase? {
        let (known, isNeeded) = state.withLock { ($0.database, !$0.configured.isEmpty) }
        if known != nil || !isNeeded { return known }
        let database = try? await link.discover()
        state.withLock { $0.database = database }
        return database
    }

    private static let configurationType: BluetoothUUID = "2902"
}
