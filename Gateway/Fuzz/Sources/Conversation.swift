import BluetoothLE
import Dispatch
import FuzzDriver
import Synchronization
@testable import GatewayESPHome

/// A session with a client that says anything, and devices that are there at once.
struct Conversation {
    /// What the client is told.
    private final class Told: Sendable {
        let frames = Mutex<[Frame]>([])
    }

    private let radio = FakeRadio()
    private let told = Told()
    private let session: ProxySession
    /// Whether the client is still there.
    private(set) var isOpen = true

    init() {
        session = ProxySession(
            ProxyClientID(number: 1),
            ProxySession.Surroundings(
                radio: radio, identity: ProxyIdentity(gateway: "attic", version: "1.0"), isEncrypted: true,
                time: { 1_800_000_000 }, registry: ProxyRegistry(), admit: { _, _ in true },
                scanningChanged: {})
        ) { [told] frame in told.frames.withLock { $0.append(frame) } }
    }

    /// Takes a message, as a connection's handler does.
    mutating func receive(_ frame: Frame) throws {
        switch session.receive(frame) {
        case .goOn: break
        case .welcome: try require(frame.type == .helloRequest, "a client is welcome without a hello")
        case .noPlace: try require(false, "a client has no place, although every client is admitted")
        case .leave: isOpen = false
        case .refuse(let reason):
            try require(!reason.isEmpty, "a client is refused without a reason")
            isOpen = false
        }
    }

    /// Ends the connection. Nothing of it is left, and all that was said could be sent.
    ///
    /// - Parameter limit: the longest message.
    func end(limit: Int) throws {
        let ended = DispatchSemaphore(value: 0)
        Task { [session] in
            await session.end()
            ended.signal()
        }
        ended.wait()
        try require(radio.places.taken.isEmpty, "a place is still taken")
        for frame in told.frames.withLock({ $0 }) {
            try require(frame.payload.count <= limit, "a message of \(frame.payload.count) octets cannot be sent")
        }
    }
}

/// The messages that clients send. A few that nobody knows are among them.
let messageTypes: [MessageType] =
    [
        .helloRequest, .authenticationRequest, .disconnectRequest, .disconnectResponse, .pingRequest, .pingResponse,
        .deviceInfoRequest, .listEntitiesRequest, .getTimeRequest, .subscribeAdvertisements, .deviceRequest,
        .getServicesRequest, .readRequest, .writeRequest, .readDescriptorRequest, .writeDescriptorRequest,
        .notifyRequest, .subscribeConnectionsFree, .unsubscribeAdvertisements, .scannerSetMode,
        .setConnectionParameters, .deviceCapabilitiesRequest,
    ] + [0, 33, 999, .max].map { MessageType(rawValue: $0) }

/// C0:00:00:00:00:01 as a variable-length number, behind the tag of member 1.
private let device: [UInt8] = [0x08, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x30]

/// A client's greeting and requests, in the form of a fuzzing script: the number of a message and its payload, each
/// after a zero, which selects an honest message.
let honestMessages: [UInt8] = {
    let messages: [(MessageType, [UInt8])] = [
        (.helloRequest, [0x0A, 1, 0x78, 0x10, 1, 0x18, 14]), (.deviceInfoRequest, []),
        (.subscribeAdvertisements, [8, 1]),
        (.scannerSetMode, [8, 1]), (.subscribeConnectionsFree, []),
        (.deviceRequest, device + [0x10, 5, 0x18, 1, 0x20, 1]),
        (.getServicesRequest, device), (.readRequest, device + [0x10, 3]),
        (.writeRequest, device + [0x10, 3, 0x18, 1, 0x22, 1, 7]), (.notifyRequest, device + [0x10, 3, 0x18, 1]),
        (.writeDescriptorRequest, device + [0x10, 4, 0x1A, 2, 1, 0]),
        (.setConnectionParameters, device + [0x10, 6, 0x18, 12, 0x28, 100]), (.deviceRequest, device + [0x10, 2]),
        (.deviceRequest, device + [0x10, 6]), (.deviceRequest, device + [0x10, 1]), (.disconnectRequest, []),
    ]
    return messages.flatMap { type, payload -> [UInt8] in
        guard let index = messageTypes.firstIndex(of: type) else { return [] }
        return [0, UInt8(index), UInt8(payload.count)] + payload
    }
}()
