import BluetoothLE
import Synchronization
@testable import GatewayESPHome

/// Adapters without a radio: connections are there at once, and devices answer what they were told to.
final class FakeRadio: ProxyRadio {
    struct State {
        var links: [DeviceAddress: FakeLink] = [:]
        var refusal: ProxyError?
        /// The scan modes that clients have requested, the latest one last.
        var wishes: [(client: ProxyClientID, isActive: Bool)] = []
        /// The devices that there are bonds with.
        var bonded: Set<DeviceAddress> = []
        var unpaired: [DeviceAddress] = []
        var forgotten: [DeviceAddress] = []
        /// Who waits, in `connect` until it is cancelled, in `forgetServices` until it is let go on.
        var held: [CheckedContinuation<Void, Never>] = []
        var holds = false
        /// Whether connections end only when `letGo` is called.
        var clings = false
    }

    let allowsPairing: Bool
    let state = Mutex(State())

    init(allowsPairing: Bool = true) { self.allowsPairing = allowsPairing }

    var places: ProxyPlaces {
        ProxyPlaces(limit: 3, taken: state.withLock { $0.links.keys.sorted { $0.value < $1.value } })
    }
    var scanning: ProxyScanning {
        ProxyScanning(
            isRunning: true, isActive: state.withLock { $0.wishes.last?.isActive ?? true },
            isActiveByConfiguration: true)
    }

    func connect(to device: DeviceAddress, for client: ProxyClientID) async throws(ProxyError) -> any ProxyLink {
        if state.withLock({ $0.holds }) {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isLate = state.withLock { state in
                        if Task.isCancelled { return true }
                        state.held.append(continuation)
                        return false
                    }
                    if isLate { continuation.resume() }
                }
            } onCancel: {
                let held = state.withLock { state in
                    defer { state.held = [] }
                    return state.held
                }
                for one in held { one.resume() }
            }
            throw .timedOut
        }
        if let refusal = state.withLock({ $0.refusal }) { throw refusal }
        if state.withLock({ $0.links[device] != nil }) { throw .busy }
        let link = FakeLink(clings: state.withLock { $0.clings }) { [self] in state.withLock { $0.links[device] = nil }
        }
        state.withLock { $0.links[device] = link }
        return link
    }

    func unpair(_ device: DeviceAddress) async throws(ProxyError) {
        let isBonded = state.withLock { state in
            guard state.bonded.remove(device) != nil else { return false }
            state.unpaired.append(device)
            return true
        }
        if !isBonded { throw .failed }
    }

    func forgetServices(of device: DeviceAddress) async throws(ProxyError) {
        await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                if state.holds { state.held.append(continuation) }
                return state.holds
            }
            if !isHeld { continuation.resume() }
        }
        state.withLock { $0.forgotten.append(device) }
    }

    /// Lets those go on who wait, and holds nobody any more.
    func letGo() {
        let held = state.withLock { state in
            state.holds = false
            defer { state.held = [] }
            return state.held
        }
        for one in held { one.resume() }
    }

    func scan(isActive: Bool?, for client: ProxyClientID) {
        state.withLock { state in
            state.wishes.removeAll { $0.client == client }
            if let isActive { state.wishes.append((client, isActive)) }
        }
    }

    func link(_ device: DeviceAddress) -> FakeLink? { state.withLock { $0.links[device] } }
}

/// A connection to a device with a battery service.
final class FakeLink: ProxyLink {
    enum Event: Sendable {
        case value(AttributeHandle, [UInt8])
        case end(ProxyError)
    }

    let written = Mutex<[AttributeValue]>([])
    /// How often the attributes were discovered.
    let discoveries = Mutex(0)
    let events: (stream: AsyncStream<Event>, continuation: AsyncStream<Event>.Continuation) = AsyncStream.makeStream()
    private let giveBack: @Sendable () -> Void

    static let database = DiscoveredDatabase(
        services: [DiscoveredService(uuid: "180F", startHandle: 1, endHandle: 4)],
        characteristics: [
            DiscoveredCharacteristic(
                uuid: "2A19", declarationHandle: 2, valueHandle: 3, endHandle: 4, properties: [.read, .notify])
        ], descriptors: [DiscoveredDescriptor(uuid: "2902", handle: 4)])

    init(clings: Bool = false, giveBack: @escaping @Sendable () -> Void) {
        self.giveBack = giveBack
        if !clings { letGo() }
    }

    private let ending: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation) =
        AsyncStream.makeStream()

    /// Lets the connection end.
    func letGo() { ending.continuation.finish() }

    var mtu: Int { get async throws(ProxyError) { 517 } }
    func discover() async throws(ProxyError) -> DiscoveredDatabase {
        discoveries.withLock { $0 += 1 }
        return Self.database
    }
    func read(_ handle: AttributeHandle) async throws(ProxyError) -> [UInt8] {
        guard handle == 3 else { throw ProxyError(code: 1) }
        return [61]
    }
    func write(_ value: [UInt8], to handle: AttributeHandle) async throws(ProxyError) {
        guard handle != 9 else { throw ProxyError(code: 3) }
        written.withLock { $0.append(AttributeValue(handle: handle, value: value)) }
    }
    func writeWithoutResponse(_ value: [UInt8], to handle: AttributeHandle) async throws(ProxyError) {
        try await write(value, to: handle)
    }
    func pair() async throws(ProxyError) {}
    func updateParameters(_ parameters: ConnectionParameters) async throws(ProxyError) {
        if !parameters.isValid { throw .failed }
    }
    func forward(_ take: @Sendable (AttributeHandle, [UInt8]) -> Void) async -> ProxyError {
        for await event in events.stream {
            switch event {
            case .value(let handle, let value): take(handle, value)
            case .end(let error): return error
            }
        }
        return .endedByThisDevice
    }
    func close() async { for await _ in ending.stream {} }
    func release() { giveBack() }
}

/// A client without a socket: what it is sent, in order.
final class FakeClient: Sendable {
    let session: ProxySession
    let radio: FakeRadio
    private let frames: AsyncStream<Frame>
    private let count = Counter()

    /// How many messages the client was sent.
    var sentCount: Int { count.value.withLock { $0 } }

    private final class Counter: Sendable {
        let value = Mutex(0)
    }

    init(
        _ radio: FakeRadio = FakeRadio(), number: UInt64 = 1, registry: ProxyRegistry = ProxyRegistry(),
        version: UInt8 = 14, isWelcome: Bool = true, hasPlace: Bool = true
    ) async {
        let (stream, continuation) = AsyncStream<Frame>.makeStream()
        self.radio = radio
        frames = stream
        session = ProxySession(
            ProxyClientID(number: number),
            ProxySession.Surroundings(
                radio: radio, identity: ProxyIdentity(gateway: "Attic 2", version: "1.0"), isEncrypted: true,
                time: { 1_800_000_000 }, registry: registry, admit: { _, _ in hasPlace },
                scanningChanged: {})
        ) { [count] frame in
            count.value.withLock { $0 += 1 }
            continuation.yield(frame)
        }
        if isWelcome {
            _ = session.receive(Frame(.helloRequest, [0x10, 1, 0x18, version]))
            _ = await next()
        }
    }

    @discardableResult func tell(_ type: MessageType, _ payload: [UInt8] = []) -> ProxySession.Verdict {
        session.receive(Frame(type, payload))
    }

    /// The next message that comes.
    func next() async -> Frame? {
        var iterator = frames.makeAsyncIterator()
        return await iterator.next()
    }

    /// Says something, and waits for what comes next.
    func ask(_ type: MessageType, _ payload: [UInt8] = []) async -> Frame? {
        tell(type, payload)
        return await next()
    }
}
