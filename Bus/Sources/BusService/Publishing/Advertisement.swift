import BluetoothAdapter
import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import BluetoothHost
import BluetoothUsers
import BusObjects
import DBus

/// A client's `org.bluez.LEAdvertisement1` on the air.
final class Advertisement {
    /// What the daemon can add to the client's data.
    enum Include: String, CaseIterable {
        case txPower = "tx-power"
        case appearance
        case localName = "local-name"
    }

    /// The PHY of an extended advertisement, as clients name it.
    enum SecondaryChannel: String, CaseIterable {
        case le1M = "1M"
        case le2M = "2M"
        case leCoded = "Coded"

        /// The feature that a controller needs for it; nil if every controller has it.
        var feature: LEFeatures? {
            switch self {
            case .le1M: nil
            case .le2M: .le2MPHY
            case .leCoded: .leCodedPHY
            }
        }

        fileprivate var advertising: ExtendedAdvertising {
            switch self {
            case .le1M: ExtendedAdvertising()
            case .le2M: ExtendedAdvertising(secondaryPHY: .le2M)
            case .leCoded: ExtendedAdvertising(primaryPHY: .leCoded, secondaryPHY: .leCoded)
            }
        }
    }

    let path: ObjectPath
    let client: Client
    private let content: Content
    private(set) var token: CallToken?

    /// The client's properties.
    struct Content {
        var isConnectable = true
        var data = AdvertisementData()
        var includes: Set<String> = []
        /// Nil to follow the adapter's property.
        var isDiscoverable: Bool?
        var duration: Duration?
        /// In milliseconds. Like BlueZ, the daemon uses them only together.
        var minimum: UInt32?
        var maximum: UInt32?
        var interval: ClosedRange<Duration> = .milliseconds(100)...(.milliseconds(150))
        var txPower: Int8?
        var secondaryChannel: SecondaryChannel?
        /// Whether the client requests extended advertising.
        var isExtended: Bool { secondaryChannel != nil }
    }

    init(_ content: Content, _ path: ObjectPath, _ client: Client) {
        self.content = content
        self.path = path
        self.client = client
    }

    /// Begins advertising.
    func begin(_ completion: @escaping (BusError?) -> Void) {
        let parameters: AdvertisingParameters
        do throws(BusError) {
            parameters = try self.parameters
        } catch {
            return completion(error)
        }
        token = client.user.call(.advertiseSet(parameters)) { result in
            switch result {
            case .success: completion(nil)
            case .failure(.busy), .failure(.unsupported): completion(.notPermitted("Maximum advertisements reached"))
            case .failure(let error): completion(.failed("Failed to register advertisement: \(error)"))
            }
        }
    }

    private var parameters: AdvertisingParameters {
        get throws(BusError) {
            var data = content.data
            let adapter = client.daemon.adapter
            if content.isConnectable {
                var flags: AdvertisingFlags = [.brEDRNotSupported]
                if content.isDiscoverable ?? adapter.isDiscoverable { flags.insert(.generalDiscoverable) }
                data.flags = flags
            }
            if content.includes.contains(Include.localName.rawValue) { data.localName = .complete(adapter.alias) }
            if content.includes.contains(Include.txPower.rawValue) { data.txPowerLevel = content.txPower ?? 0 }
            if content.includes.contains(Include.appearance.rawValue), data.appearance == nil {
                data.appearance = Appearance(rawValue: 0)
            }
            let limit = client.daemon.runner.information?.maximumAdvertisingDataLength ?? 31
            let limits: AdvertisingPayload.Limits =
                content.isExtended ? .init(advertisingData: limit, scanResponseData: 0) : .legacy
            let payload: AdvertisingPayload
            do throws(AdvertisingPayloadError) {
                payload = try AdvertisingPayload(data, limits: limits)
            } catch {
                throw .bluez("InvalidLength", "Advertising data too long.")
            }
            var parameters = AdvertisingParameters(
                isConnectable: content.isConnectable, interval: content.interval, data: payload.advertisingData,
                scanResponse: payload.scanResponseData, duration: content.duration,
                extended: content.secondaryChannel?.advertising)
            if client.daemon.runner.information?.usesExtendedCommands == true {
                parameters.transmitPower = content.txPower
            }
            return parameters
        }
    }

    /// The adapter's properties have changed.
    func renew() {
        guard let token, content.isDiscoverable == nil, let parameters = try? parameters else { return }
        client.user.post(.changeSet(token, parameters))
    }

    func cancel() {
        if let token { client.user.forget(token) }
        token = nil
    }

    /// The daemon ends the advertisement, and tells the client.
    func release() {
        cancel()
        client.tell(path, Self.interface, "Release")
    }

    /// Advertising has ended, after its duration or because the controller refused to go on.
    func ended(_ error: HostError?) {
        token = nil
        _ = client.removeAdvertisement(path)
        release()
        client.daemon.adapter.advertisingChanged()
    }

    static let interface = "org.bluez.LEAdvertisement1"
}
