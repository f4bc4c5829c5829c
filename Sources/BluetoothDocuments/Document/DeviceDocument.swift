import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT

/// A device in a file: its GATT database with the values, what it advertises, and what it notifies at which times.
///
/// `ble inspect --json` and `ble record` write such documents, `ble serve` and `ble replay` serve them.
/// `Documentation/Documents.md` describes their JSON.
public struct DeviceDocument: Equatable, Sendable {
    /// The device's name. Where the document has no Generic Access service, that of the host gets it.
    public var name: String?
    public var address: DeviceAddress?
    /// What it advertises; nil for its name and its primary services.
    public var advertisement: Advertising?
    /// What it answers to scan requests. Where this is nil, what does not fit into the advertisement goes there.
    public var scanResponse: Advertising?
    public var isConnectable = true
    /// Whether a Generic Access and a Generic Attribute service go in front of the others; nil to add them unless the document
    /// has one of them, or names a handle.
    public var addsGenericServices: Bool?
    public var services: [Service]
    public var notifications: [Notification]

    public init(services: [Service] = [], notifications: [Notification] = []) {
        self.services = services
        self.notifications = notifications
    }

    /// Advertising data, as octets or by its content.
    public enum Advertising: Equatable, Sendable {
        case octets([UInt8])
        case fields(AdvertisementData)
    }

    /// A service (Core 5.4, Vol 3, Part G, 3.1).
    public struct Service: Equatable, Sendable {
        public var uuid: BluetoothUUID
        public var isPrimary = true
        /// The handle of its declaration; nil for the next one.
        public var handle: AttributeHandle?
        /// Its last handle; nil for that of its last attribute.
        public var endHandle: AttributeHandle?
        public var includes: [Include] = []
        public var characteristics: [Characteristic] = []

        public init(uuid: BluetoothUUID) { self.uuid = uuid }
    }

    /// An include declaration (3.2).
    public struct Include: Equatable, Sendable {
        public enum Target: Equatable, Sendable {
            /// The service whose declaration is at this handle.
            case handle(AttributeHandle)
            /// The first service of this UUID.
            case uuid(BluetoothUUID)
        }

        public var target: Target
        /// The handle of the include declaration itself; nil for the next one.
        public var handle: AttributeHandle?

        public init(_ target: Target, handle: AttributeHandle? = nil) {
            self.target = target
            self.handle = handle
        }
    }

    /// A characteristic (3.3).
    public struct Characteristic: Equatable, Sendable {
        public var uuid: BluetoothUUID
        /// The handle of its declaration; nil for the next one.
        public var handle: AttributeHandle?
        /// The handle of its value; nil for the next one.
        public var valueHandle: AttributeHandle?
        public var properties: GATTCharacteristicProperties
        public var permissions = Permissions()
        public var value = Value()
        public var descriptors: [Descriptor] = []
        /// Whether it gets the descriptors that its properties ask for and `descriptors` does not have.
        public var addsDescriptors = true

        public init(uuid: BluetoothUUID, properties: GATTCharacteristicProperties) {
            self.uuid = uuid
            self.properties = properties
        }
    }

    /// A characteristic descriptor (3.3.3).
    public struct Descriptor: Equatable, Sendable {
        public var uuid: BluetoothUUID
        public var handle: AttributeHandle?
        public var permissions = Permissions()
        /// That of a Client Characteristic Configuration is each client's own.
        public var value = Value()

        public init(uuid: BluetoothUUID) { self.uuid = uuid }
    }

    /// A value, and how long others may be that are written in its place.
    public struct Value: Equatable, Sendable {
        public var octets: [UInt8]
        /// Whether it is written as text.
        public var isText: Bool
        /// In octets, at most 512; the present length if nil, and no write changes it then.
        public var maximumLength: Int?

        public init(_ octets: [UInt8] = [], isText: Bool = false, maximumLength: Int? = 512) {
            self.octets = octets
            self.isText = isText
            self.maximumLength = maximumLength
        }
    }

    /// What a link needs to read, to write and to subscribe; nil for what follows from the properties.
    public struct Permissions: Equatable, Sendable {
        public var read: GATTPermissions.Requirement?
        public var write: GATTPermissions.Requirement?
        public var subscribe: GATTPermissions.Requirement?
        /// The shortest encryption key, in octets.
        public var keySize: UInt8?
        /// What every read is refused with.
        public var readError: ATTErrorCode?
        /// What every write is refused with.
        public var writeError: ATTErrorCode?

        public init() {}
    }

    /// A value that is sent at a time.
    public struct Notification: Equatable, Sendable {
        public enum Characteristic: Equatable, Sendable {
            /// The one whose value is at this handle.
            case handle(AttributeHandle)
            /// The first one of this UUID.
            case uuid(BluetoothUUID)
        }

        public enum Origin: Equatable, Sendable {
            /// The client's subscription to the characteristic.
            case subscription
            /// The client's connection. What it has not subscribed to by then is not sent.
            case connection
        }

        public var characteristic: Characteristic
        /// How long after its origin it is sent.
        public var time: Duration
        public var origin = Origin.subscription
        public var octets: [UInt8]
        public var isText = false
        /// Whether it is sent as an indication; nil for what the client has subscribed to.
        public var isIndication: Bool?

        public init(_ characteristic: Characteristic, after time: Duration, _ octets: [UInt8]) {
            self.characteristic = characteristic
            self.time = time
            self.octets = octets
        }
    }
}
