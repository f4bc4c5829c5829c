import ArgumentParser
import BluetoothLE
import BluetoothCommandLine

/// An attribute as a user names it: by UUID, by service and UUID, or by handle.
enum AttributeSelector: Hashable, Sendable {
    case handle(AttributeHandle)
    case uuid(BluetoothUUID, service: BluetoothUUID?)
}

extension AttributeSelector: ExpressibleByArgument, CustomStringConvertible {
    static let expectation =
        "give a UUID such as 2A37, SERVICE/UUID such as 180D/2A37, or a handle such as 0x0010"

    init?(argument: String) {
        guard let selector = AttributeSelector(argument) else {
            ArgumentRefusal.note(argument, Self.expectation)
            return nil
        }
        self = selector
    }

    private init?(_ text: String) {
        if text.lowercased().hasPrefix("0x") {
            let digits = text.dropFirst(2)
            guard digits.utf8.allSatisfy(\.isHexadecimal), let handle = UInt16(digits, radix: 16), handle != 0 else {
                return nil
            }
            self = .handle(AttributeHandle(handle))
        } else {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            let uuids = parts.compactMap { BluetoothUUID(String($0)) }
            guard uuids.count == parts.count, let uuid = uuids.last, uuids.count <= 2 else { return nil }
            self = .uuid(uuid, service: uuids.count == 2 ? uuids[0] : nil)
        }
    }

    var description: String {
        switch self {
        case .handle(let handle): "\(handle)"
        case .uuid(let uuid, let service): (service.map { "\($0)/" } ?? "") + "\(uuid)"
        }
    }
}

extension UInt8 {
    fileprivate var isHexadecimal: Bool { Character(Unicode.Scalar(self)).isHexDigit }
}

/// An attribute of a peer that a selector has found.
struct SelectedAttribute: Sendable {
    var handle: AttributeHandle
    /// The UUID of the characteristic or descriptor; nil if the peer's database does not contain the handle.
    var uuid: BluetoothUUID?
    /// The characteristic whose value it is; nil for a descriptor.
    var characteristic: DiscoveredCharacteristic?

    /// The label in messages.
    var label: String { uuid.map { "\($0)" } ?? "\(handle)" }

    fileprivate init(_ characteristic: DiscoveredCharacteristic) {
        handle = characteristic.valueHandle
        uuid = characteristic.uuid
        self.characteristic = characteristic
    }

    fileprivate init(_ descriptor: DiscoveredDescriptor) {
        handle = descriptor.handle
        uuid = descriptor.uuid
    }

    fileprivate init(_ handle: AttributeHandle) { self.handle = handle }
}

extension AttributeSelector {
    /// The selected attributes: the values of characteristics, or descriptors if no characteristic has the UUID.
    func attributes(in database: DiscoveredDatabase) -> [SelectedAttribute] {
        switch self {
        case .handle(let handle):
            if let match = database.characteristics.first(where: { $0.valueHandle == handle }) { return [.init(match)] }
            if let match = database.descriptors.first(where: { $0.handle == handle }) { return [.init(match)] }
            return [.init(handle)]
        case .uuid(let uuid, let service):
            let ranges = service.map { service in
                database.services.filter { $0.uuid == service }.map {
                    $0.startHandle...max($0.startHandle, $0.endHandle)
                }
            }
            func isWithin(_ handle: AttributeHandle) -> Bool { ranges?.contains { $0.contains(handle) } ?? true }
            let characteristics = database.characteristics.filter { $0.uuid == uuid && isWithin($0.valueHandle) }
            guard characteristics.isEmpty else { return characteristics.map { .init($0) } }
            return database.descriptors.filter { $0.uuid == uuid && isWithin($0.handle) }.map { .init($0) }
        }
    }
}

extension Connection {
    /// The attributes that the selectors name, in the same order.
    ///
    /// - Throws: `CommandFailure(.notFound)` if the peer lacks one of them.
    func attributes(_ selectors: [AttributeSelector], _ attempts: Attempts) async throws -> [SelectedAttribute] {
        let database = try await attempts.answer(of: self) { () throws(BluetoothError) in
            try await self.discoverAll()
        }
        return try selectors.flatMap { selector in
            let attributes = selector.attributes(in: database)
            guard !attributes.isEmpty else { throw CommandFailure(.notFound, "\(peer) has no \(selector)") }
            return attributes
        }
    }
}
