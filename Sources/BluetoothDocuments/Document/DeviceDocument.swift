import BluetoothATT
import BluetoothBase
import BluetoothGAP
import BluetoothGATT

/// A description of a device in a file: its GATT database with values, its advertising data, and its scheduled
/// notifications.
///
/// `ble inspect --json` and `ble record` write such documents; `ble serve` and `ble replay` serve them.
/// `Documentation/Documents.md` describes the JSON format.
public struct DeviceDocument: Equatable, Sendable {
    /// The device's name. If the document has no Generic Access service, the one that is added gets this name.
    public var name: String?
    /// The device's address; nil for that of the adapter. A served device uses it only if it is static random.
    public var address: DeviceAddress?
    /// The advertising data; nil to advertise the name and the primary services.
    public var advertisement: Advertising?
    /// The scan response data. If nil, it contains the parts that do not fit into the advertising data.
    public var scanResponse: Advertising?
    /// Whether other devices may connect.
    public var isConnectable = true
    /// Whether to add a Generic Access and a Generic Attribute service before the other services. If nil, they are
    /// added unless the document contains one of them or specifies a handle.
    public var addsGenericServices: Bool?
    /// The services, in the order in which they are assigned handles.
    public var services: [Service]
    /// The scheduled notifications and indications, in any order.
    public var notifications: [Notification]

    /// Creates a document. The other members keep their defaults.
    public init(services: [Service] = [], notifications: [Notification] = []) {
        self.services = services
        self.notifications = notifications
    }

    /// Advertising data, as octets or as fields.
    public enum Advertising: Equatable, Sendable {
        case octets([UInt8])
        case fields(AdvertisementData)
    }

    /// A service (Core 5.4, Vol 3, Part G, 3.1).
    public struct Service: Equatable, Sendable {
        /// The UUID of the service.
        public var uuid: BluetoothUUID
        /// False for a secondary service, which is only useful if another service includes it.
        public var isPrimary = true
        /// The handle of the declaration; nil for the next free handle.
        public var handle: AttributeHandle?
        /// The last handle of the service; nil for the handle of its last attribute.
        public var endHandle: AttributeHandle?
        /// The services that this one includes, in the order of their declarations.
        public var includes: [Include] = []
        /// The characteristics, in the order of their handles.
        public var characteristics: [Characteristic] = []

        /// Creates a primary service without characteristics, at the next free handles.
        public init(uuid: BluetoothUUID) { self.uuid = uuid }
    }

    /// An include declaration (3.2).
    public struct Include: Equatable, Sendable {
        /// The included service, identified by its declaration handle or by its UUID.
        public enum Target: Equatable, Sendable {
            /// The service whose declaration is at this handle.
            case handle(AttributeHandle)
            /// The first service with this UUID.
            case uuid(BluetoothUUID)
        }

        /// The service to include.
        public var target: Target
        /// The handle of the include declaration itself; nil for the next free handle.
        public var handle: AttributeHandle?

        /// Creates an include declaration. By default it takes the next free handle.
        public init(_ target: Target, handle: AttributeHandle? = nil) {
            self.target = target
            self.handle = handle
        }
    }

    /// A characteristic (3.3).
    public struct Characteristic: Equatable, Sendable {
        /// The UUID of the characteristic.
        public var uuid: BluetoothUUID
        /// The handle of the declaration; nil for the next free handle.
        public var handle: AttributeHandle?
        /// The handle of the value; nil for the next free handle.
        public var valueHandle: AttributeHandle?
        /// The Characteristic Properties of the declaration.
        public var properties: GATTCharacteristicProperties
        /// The security required to access the value. By default everything that the properties offer is open.
        public var permissions = Permissions()
        /// The initial value; by default empty, and up to 512 octets long.
        public var value = Value()
        /// The descriptors, in the order of their handles.
        public var descriptors: [Descriptor] = []
        /// Whether to add the descriptors that the properties require and that `descriptors` does not contain.
        public var addsDescriptors = true

        /// Creates a characteristic with an empty value, at the next free handles.
        public init(uuid: BluetoothUUID, properties: GATTCharacteristicProperties) {
            self.uuid = uuid
            self.properties = properties
        }
    }

    /// A characteristic descriptor (3.3.3).
    public struct Descriptor: Equatable, Sendable {
        /// The type of the descriptor.
        public var uuid: BluetoothUUID
        /// The handle of the descriptor; nil for the next free handle.
        public var handle: AttributeHandle?
        /// The security required to access the descriptor. By default any link may read it, and no link may write it,
        /// except a Client Characteristic Configuration.
        public var permissions = Permissions()
        /// The value. A Client Characteristic Configuration has a separate value for each client.
        public var value = Value()

        /// Creates a descriptor with an empty value, at the next free handle.
        public init(uuid: BluetoothUUID) { self.uuid = uuid }
    }

    /// A value, and the maximum length of values that may be written.
    public struct Value: Equatable, Sendable {
        /// The octets of the value, at most 512.
        public var octets: [UInt8]
        /// Whether the document contains the value as text.
        public var isText: Bool
        /// The maximum length in octets, at most 512. If nil, the length is fixed and writes can't change it.
        public var maximumLength: Int?

        /// Creates a value. By default it is empty, and up to 512 octets may be written.
        public init(_ octets: [UInt8] = [], isText: Bool = false, maximumLength: Int? = 512) {
            self.octets = octets
            self.isText = isText
            self.maximumLength = maximumLength
        }
    }

    /// The security that a link requires to read, write and subscribe. Nil values follow from the properties.
    public struct Permissions: Equatable, Sendable {
        /// The requirement to read; nil for the default.
        public var read: GATTPermissions.Requirement?
        /// The requirement to write; nil for the default.
        public var write: GATTPermissions.Requirement?
        /// The requirement to subscribe; nil for that of reading, or for `open` if reading is not allowed.
        /// Ignored for a descriptor.
        public var subscribe: GATTPermissions.Requirement?
        /// The minimum encryption key size in octets.
        public var keySize: UInt8?
        /// The error with which every read is rejected.
        public var readError: ATTErrorCode?
        /// The error with which every write is rejected.
        public var writeError: ATTErrorCode?

        /// Creates permissions in which every requirement has its default.
        public init() {}
    }

    /// A value that is sent at a scheduled time.
    public struct Notification: Equatable, Sendable {
        /// The characteristic, identified by its value handle or by its UUID.
        public enum Characteristic: Equatable, Sendable {
            /// The characteristic with this value handle.
            case handle(AttributeHandle)
            /// The first characteristic with this UUID.
            case uuid(BluetoothUUID)
        }

        /// The start of a notification's time.
        public enum Origin: Equatable, Sendable {
            /// The time starts at the client's subscription to the characteristic.
            case subscription
            /// The time starts at the client's connection. The value is not sent if the client has not subscribed by
            /// then.
            case connection
        }

        /// The characteristic whose value is sent.
        public var characteristic: Characteristic
        /// The time after the origin at which the value is sent.
        public var time: Duration
        /// The event at which `time` starts.
        public var origin = Origin.subscription
        /// The value to send, at most 512 octets.
        public var octets: [UInt8]
        /// Whether the document contains the value as text.
        public var isText = false
        /// Whether to send the value as an indication; nil to send what the client has subscribed to.
        public var isIndication: Bool?

        /// Creates a notification that is sent at `time` after the client's subscription.
        public init(_ characteristic: Characteristic, after time: Duration, octets: [UInt8]) {
            self.characteristic = characteristic
            self.time = time
            self.octets = octets
        }
    }
}
