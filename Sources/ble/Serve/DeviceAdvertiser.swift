import BluetoothDocuments
import BluetoothGAP
import BluetoothLE
import BluetoothCommandLine

/// Advertises the data in a document, as long as the device is served.
struct DeviceAdvertiser: Sendable {
    private let parameters: AdvertisingParameters

    /// - Throws: a usage failure if the data does not fit.
    init(_ document: DeviceDocument) throws {
        let (data, response) = try Self.octets(document)
        parameters = AdvertisingParameters(
            isConnectable: document.isConnectable, data: data, scanResponse: response)
    }

    /// Starts advertising, and returns when it is active.
    func begin(on adapter: Adapter) async throws -> AdvertisingSet {
        try await Attempts.untilTaken(on: adapter) { () throws(BluetoothError) in
            try await adapter.addAdvertisingSet(parameters)
        }
    }

    /// Waits until advertising ends, and starts it again if the controller has refused a command that it accepted
    /// before.
    ///
    /// - Throws: the reason why the controller no longer accepts it; `.cancelled`.
    func keep(_ set: AdvertisingSet, on adapter: Adapter) async throws {
        try await AdvertisingRenewal.keep(set) { set throws(BluetoothError) in
            try await set.waitUntilEnded()
        } begin: {
            try await begin(on: adapter)
        }
    }

    // MARK: - Data

    private static func octets(_ document: DeviceDocument) throws -> ([UInt8], [UInt8]) {
        if let response = document.scanResponse {
            let data = try document.advertisement?.octets(at: "advertisement") ?? []
            return (data, try response.octets(at: "scanResponse"))
        }
        switch document.advertisement {
        case .octets(let data): return (data, [])
        case .fields(let fields): return try payload(fields)
        case nil: break
        }
        var fields = AdvertisementData()
        fields.localName = document.name.map { .complete($0) }
        let named = fields
        fields.serviceUUIDs = document.services.filter { $0.isPrimary && !generic.contains($0.uuid) }.map(\.uuid)
        do {
            return try payload(fields)
        } catch {
            return try payload(named)
        }
    }

    /// The octets to send. Flags are added if the fields contain none.
    private static func payload(_ fields: AdvertisementData) throws(CommandFailure) -> ([UInt8], [UInt8]) {
        var fields = fields
        fields.flags = fields.flags ?? [.generalDiscoverable, .brEDRNotSupported]
        do throws(AdvertisingPayloadError) {
            let payload = try AdvertisingPayload(fields)
            return (payload.advertisingData, payload.scanResponseData)
        } catch {
            throw CommandFailure(.usage, "the advertising data is too long: \(error)")
        }
    }

    private static let generic: [BluetoothUUID] = [.genericAccess, .genericAttribute]
}
