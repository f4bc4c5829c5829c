import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothLE
import CoreBluetooth
import Foundation
import Synchronization

/// What a test wants a peripheral to do about the requests of centrals, and the attributes that they are about.
final class AttributeScript: Sendable {
    /// One answer to some requests.
    private struct Rule {
        let kind: VirtualRequest.Kind?
        let attribute: BluetoothUUID?
        var skipping: Int
        var times: Int
        let respond: @Sendable (VirtualRequest) -> VirtualResponse
    }

    private struct State {
        var rules: [Rule] = []
        var mtu: UInt16
        var attributes = AttributeTable()
    }

    private let state: Mutex<State>

    init(mtu: Int) { state = Mutex(State(mtu: UInt16(clamping: max(23, min(517, mtu))))) }

    /// The ATT_MTU of the device, from its next connection on.
    var mtu: UInt16 {
        get { state.withLock { $0.mtu } }
        set { state.withLock { $0.mtu = max(23, min(517, newValue)) } }
    }

    var attributes: AttributeTable {
        get { state.withLock { $0.attributes } }
        set { state.withLock { $0.attributes = newValue } }
    }

    /// Adds a rule. It precedes the rules so far.
    func add(
        _ kind: VirtualRequest.Kind?, _ attribute: BluetoothUUID?, skipping: Int, times: Int,
        _ respond: @escaping @Sendable (VirtualRequest) -> VirtualResponse
    ) {
        let rule = Rule(kind: kind, attribute: attribute, skipping: skipping, times: times, respond: respond)
        state.withLock { $0.rules.insert(rule, at: 0) }
    }

    func removeAll() { state.withLock { $0.rules = [] } }

    /// What is done about a PDU.
    func action(for pdu: [UInt8]) -> VirtualResponse.Action {
        let found = state.withLock { state -> (VirtualRequest, @Sendable (VirtualRequest) -> VirtualResponse)? in
            guard !state.rules.isEmpty, let request = state.attributes.request(pdu),
                let place = state.rules.firstIndex(where: { rule in
                    (rule.kind ?? request.kind) == request.kind
                        && (rule.attribute == nil || rule.attribute == request.attribute)
                })
            else { return nil }
            guard state.rules[place].skipping == 0 else {
                state.rules[place].skipping -= 1
                return nil
            }
            let rule = state.rules[place]
            state.rules[place].times -= 1
            if state.rules[place].times == 0 { state.rules.remove(at: place) }
            return (request, rule.respond)
        }
        return found.map { request, respond in respond(request).action } ?? .normal
    }
}

/// The attributes of a device by their handles, in order to say what a request is about.
struct AttributeTable {
    private enum Entry {
        case service(end: AttributeHandle)
        case characteristic
        case descriptor(of: BluetoothUUID)
        case clientConfiguration
    }

    /// A value that the test's own firmware may have to answer for.
    enum Value: Hashable, Sendable {
        case characteristic(BluetoothUUID)
        case descriptor(BluetoothUUID, of: BluetoothUUID)
    }

    private var entries: [(handle: AttributeHandle, uuid: BluetoothUUID, entry: Entry)] = []

    /// Adds a service of the test's own.
    mutating func add(_ definition: GATTServiceDefinition, _ handles: GATTServiceHandles) {
        entries.append((handles.declaration, definition.uuid, .service(end: handles.end)))
        for (characteristic, place) in zip(definition.characteristics, handles.characteristics) {
            entries.append((place.value, characteristic.uuid, .characteristic))
            if let configuration = place.clientConfiguration {
                entries.append((configuration, characteristic.uuid, .clientConfiguration))
            }
            for (descriptor, handle) in zip(characteristic.descriptors, place.descriptors)
            where handle != place.clientConfiguration {
                entries.append((handle, descriptor.uuid, .descriptor(of: characteristic.uuid)))
            }
        }
        entries.sort { $0.handle < $1.handle }
    }

    /// The value with a handle; nil if it is not the test's own.
    func value(at handle: AttributeHandle) -> Value? {
        guard let found = entries.first(where: { $0.handle == handle }) else { return nil }
        switch found.entry {
        case .characteristic: return .characteristic(found.uuid)
        case .descriptor(let characteristic): return .descriptor(found.uuid, of: characteristic)
        case .service, .clientConfiguration: return nil
        }
    }

    /// The request in a PDU; nil if it is no request, or about an attribute that is not the test's own.
    func request(_ pdu: [UInt8]) -> VirtualRequest? {
        guard let message = try? ATTMessage(decoding: pdu.span) else { return nil }
        switch message {
        case .readByGroupTypeRequest(let request) where request.attributeGroupType == .primaryService:
            return VirtualRequest(.discoverServices, nil)
        case .findByTypeValueRequest: return VirtualRequest(.discoverServices, nil)
        case .readByTypeRequest(let request) where request.attributeType == BluetoothUUID(0x2803):
            return service(around: request.startingHandle).map { VirtualRequest(.discoverCharacteristics, $0) }
        case .readByTypeRequest(let request) where request.attributeType == BluetoothUUID(0x2802):
            return service(around: request.startingHandle).map { VirtualRequest(.discoverIncludedServices, $0) }
        case .findInformationRequest(let request):
            return characteristic(before: request.startingHandle).map { VirtualRequest(.discoverDescriptors, $0) }
        case .readRequest(let request): return value(.read, request.handle)
        case .readBlobRequest(let request): return value(.read, request.handle, offset: Int(request.offset))
        case .writeRequest(let request): return value(.write, request.handle, request.value.array)
        case .prepareWriteRequest(let request):
            return value(.write, request.handle, request.value.array, offset: Int(request.offset))
        case .writeCommand(let request): return value(.writeWithoutResponse, request.handle, request.value.array)
        default: return nil
        }
    }

    private func value(
        _ kind: VirtualRequest.Kind, _ handle: AttributeHandle, _ octets: [UInt8] = [], offset: Int = 0
    ) -> VirtualRequest? {
        guard let found = entries.first(where: { $0.handle == handle }) else { return nil }
        guard case .clientConfiguration = found.entry, kind == .write else {
            return VirtualRequest(kind, found.uuid, value: Data(octets), offset: offset)
        }
        let isOn = octets.contains { $0 != 0 }
        return VirtualRequest(isOn ? .subscribe : .unsubscribe, found.uuid)
    }

    private func service(around handle: AttributeHandle) -> BluetoothUUID? {
        entries.last { entry in
            guard case .service(let end) = entry.entry else { return false }
            return entry.handle <= handle && handle <= end
        }?.uuid
    }

    private func characteristic(before handle: AttributeHandle) -> BluetoothUUID? {
        entries.last { entry in
            guard case .characteristic = entry.entry else { return false }
            return entry.handle < handle
        }?.uuid
    }
}
