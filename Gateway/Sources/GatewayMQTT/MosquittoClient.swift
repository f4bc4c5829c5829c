import CMosquitto
import Foundation
import GatewayConfiguration
import GatewayPipeline

/// A message from the broker.
public struct MQTTMessage: Equatable, Sendable {
    /// The topic of the message.
    public var topic: String
    /// The octets of the message, at most 65,536.
    public var payload: [UInt8]
    /// The topic for a response (MQTT 5, 3.3.2.3.5).
    public var responseTopic: String?
    /// The data that a response repeats (MQTT 5, 3.3.2.3.6).
    public var correlationData: [UInt8]?
    /// Whether the broker had stored the message before this client subscribed (MQTT 3.1.1, 3.3.1.3).
    public var isRetained: Bool
}

/// A client of libmosquitto without a thread: its owner decides when to read and write. Calls must not overlap.
final class MosquittoClient {
    enum Event: Equatable {
        /// The broker has accepted or refused the connection.
        case connected(BrokerFailure?)
        case disconnected(BrokerFailure)
        /// The broker has accepted or refused the message with this identifier.
        case published(Int32, refusal: String?)
        case message(MQTTMessage)
    }

    private let handle: OpaquePointer
    private let settings: BrokerSettings
    /// The events since they were last taken.
    private var events: [Event] = []
    /// The first error that OpenSSL reported for this connection.
    private var complaint: String?

    /// Longer messages from the broker are ignored.
    static let maximumPayload = 65_536
    /// The limit for a message with its topic and properties.
    static let maximumPacket = maximumPayload + 8192
    /// The maximum number of messages in transit to the broker.
    static let window = 500

    /// Initializes the library, once per process.
    private static let library: Void = {
        keepOpenSSLAtExit()
        _ = mosquitto_lib_init()
    }()

    /// Keeps OpenSSL's state when the process exits. OpenSSL would free it, and crash a thread that is still
    /// connecting, or that is ending after it used OpenSSL.
    private static func keepOpenSSLAtExit() {
        // A process without the symbol has a libmosquitto without OpenSSL.
        guard let symbol = dlsym(nil, "OPENSSL_init_crypto") else { return }
        typealias Function = @convention(c) (_ options: UInt64, _ settings: OpaquePointer?) -> Int32
        let withoutCleanup: UInt64 = 0x0008_0000  // OPENSSL_INIT_NO_ATEXIT; only the first call can set it.
        _ = unsafeBitCast(symbol, to: Function.self)(withoutCleanup, nil)
    }

    /// - Throws: an error if the settings are invalid, for example if a certificate cannot be read.
    init(_ settings: BrokerSettings, clientID: String, will: Publication?) throws(BrokerFailure) {
        _ = Self.library
        self.settings = settings
        guard let handle = mosquitto_new(clientID, true, nil) else {
            throw BrokerFailure("cannot create an MQTT client with the identifier \(clientID)")
        }
        self.handle = handle
        mosquitto_user_data_set(handle, Unmanaged.passUnretained(self).toOpaque())
        let version = settings.version == .v5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311
        try check(mosquitto_int_option(handle, MOSQ_OPT_PROTOCOL_VERSION, version))
        try check(mosquitto_int_option(handle, MOSQ_OPT_SEND_MAXIMUM, Int32(Self.window)))
        try check(mosquitto_int_option(handle, MOSQ_OPT_TCP_NODELAY, 1))
        if let user = settings.user { try check(mosquitto_username_pw_set(handle, user, settings.password)) }
        if let will {
            try check(
                mosquitto_will_set(
                    handle, will.topic, Int32(will.payload.count), will.payload, 1, will.isRetained))
        }
        if let tls = settings.tls { try secure(tls) }
        setCallbacks()
    }

    deinit { mosquitto_destroy(handle) }

    private func secure(_ tls: BrokerSettings.TLS) throws(BrokerFailure) {
        // libmosquitto would report only that something is invalid.
        for path in [tls.authorities, tls.certificate, tls.key].compactMap({ $0 }) {
            guard FileManager.default.isReadableFile(atPath: path) else {
                throw BrokerFailure("\(path) cannot be read")
            }
        }
        let directory = tls.authorities == nil ? "/etc/ssl/certs" : nil
        try check(mosquitto_tls_set(handle, tls.authorities, directory, tls.certificate, tls.key, nil))
        try check(mosquitto_tls_opts_set(handle, 1, "tlsv1.2", nil))
    }

    private func check(_ code: Int32) throws(BrokerFailure) {
        guard code == MOSQ_ERR_SUCCESS.code else {
            throw BrokerFailure(resultCode: code, systemError: errno, detail: takeComplaint())
        }
    }

    // MARK: - The connection

    /// Connects, which may take minutes. An event reports whether the broker accepts the connection.
    func connect() throws(BrokerFailure) {
        complaint = nil
        listenToComplaints(true)
        var properties: OpaquePointer?
        defer { mosquitto_property_free_all(&properties) }
        if settings.version == .v5 {
            // Asks the broker not to send longer packets (MQTT 5, 3.1.2.11.4). MQTT 3.1.1 has no such limit.
            try check(
                mosquitto_property_add_int32(
                    &properties, Int32(MQTT_PROP_MAXIMUM_PACKET_SIZE.rawValue), UInt32(Self.maximumPacket)))
        }
        try check(
            mosquitto_connect_bind_v5(
                handle, settings.host, Int32(settings.port), Int32(settings.keepAlive.components.seconds), nil,
                properties))
    }

    /// The socket; -1 if there is no connection.
    var socket: Int32 { mosquitto_socket(handle) }
    var wantsToWrite: Bool { mosquitto_want_write(handle) }

    /// Reads and writes without blocking, and performs maintenance that is due. `takeEvents` returns the results.
    func turn(isReadable: Bool, isWritable: Bool) {
        if isReadable { _ = mosquitto_loop_read(handle, 1) }
        if isWritable { _ = mosquitto_loop_write(handle, 1) }
        _ = mosquitto_loop_misc(handle)
    }

    func disconnect() { _ = mosquitto_disconnect(handle) }

    func takeEvents() -> [Event] {
        defer { events.removeAll() }
        return events
    }

    /// The reason for the end of a connection that no event reports.
    func silentLoss() -> BrokerFailure {
        BrokerFailure(resultCode: MOSQ_ERR_CONN_LOST.rawValue, detail: takeComplaint())
    }

    private func takeComplaint() -> String? {
        defer { complaint = nil }
        return complaint
    }

    // MARK: - Messages

    /// Passes a message to libmosquitto. Returns its identifier, and whether there was a connection. With a quality of
    /// 1, libmosquitto keeps the message in any case, and sends it over the next connection.
    ///
    /// - Throws: an error if the message is invalid, so that it could not be sent over any connection.
    @discardableResult
    func publish(
        _ publication: Publication, quality: Int32, correlationData: [UInt8]? = nil
    ) throws(BrokerFailure) -> (identifier: Int32, isConnected: Bool) {
        var properties: OpaquePointer?
        defer { mosquitto_property_free_all(&properties) }
        if let correlationData, settings.version == .v5 {
            try check(
                mosquitto_property_add_binary(
                    &properties, Int32(MQTT_PROP_CORRELATION_DATA.rawValue), correlationData,
                    UInt16(clamping: correlationData.count)))
        }
        var identifier: Int32 = 0
        let code = mosquitto_publish_v5(
            handle, &identifier, publication.topic, Int32(publication.payload.count), publication.payload, quality,
            publication.isRetained, properties)
        if Self.connectionErrors.contains(code) { return (identifier, false) }
        try check(code)
        return (identifier, true)
    }

    /// The errors that concern the connection and not the message.
    private static let connectionErrors: Set<Int32> = Set(
        [
            MOSQ_ERR_ERRNO, MOSQ_ERR_NO_CONN, MOSQ_ERR_CONN_LOST, MOSQ_ERR_CONN_PENDING, MOSQ_ERR_TLS,
            MOSQ_ERR_KEEPALIVE,
        ].map(\.code))

    func subscribe(to filter: String) throws(BrokerFailure) { try check(mosquitto_subscribe(handle, nil, filter, 1)) }

    // MARK: - Callbacks

    private func setCallbacks() {
        mosquitto_connect_v5_callback_set(handle) { _, object, code, _, _ in
            guard let client = MosquittoClient.of(object) else { return }
            if code == 0 { client.listenToComplaints(false) }
            client.add(.connected(code == 0 ? nil : BrokerFailure(connectCode: code)))
        }
        mosquitto_disconnect_v5_callback_set(handle) { _, object, code, _ in
            guard let client = MosquittoClient.of(object) else { return }
            client.add(.disconnected(BrokerFailure(disconnectCode: code, detail: client.takeComplaint())))
        }
        mosquitto_publish_v5_callback_set(handle) { _, object, identifier, code, _ in
            let refusal = code >= 128 ? String(cString: mosquitto_reason_string(code)) : nil
            MosquittoClient.of(object)?.add(.published(identifier, refusal: refusal))
        }
        mosquitto_message_v5_callback_set(handle) { _, object, message, properties in
            guard let message, let message = MQTTMessage(message.pointee, properties) else { return }
            MosquittoClient.of(object)?.add(.message(message))
        }
    }

    /// Starts or stops listening to error messages. With a listener, libmosquitto formats a log line for each message
    /// that it sends, so there is none while a connection works.
    private func listenToComplaints(_ isOn: Bool) {
        guard isOn else { return mosquitto_log_callback_set(handle, nil) }
        mosquitto_log_callback_set(handle) { _, object, level, text in
            guard level == MOSQ_LOG_ERR, let text else { return }
            guard let client = MosquittoClient.of(object), client.complaint == nil else { return }
            // Later errors are consequences of the first one.
            client.complaint = String(cString: text)
        }
    }

    private func add(_ event: Event) { events.append(event) }

    private static func of(_ object: UnsafeMutableRawPointer?) -> MosquittoClient? {
        object.map { Unmanaged<MosquittoClient>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension mosq_err_t {
    fileprivate var code: Int32 { rawValue }
}

extension MQTTMessage {
    /// Returns nil if the message is too long.
    init?(_ message: mosquitto_message, _ properties: OpaquePointer?) {
        guard (0...Int32(MosquittoClient.maximumPayload)).contains(message.payloadlen), let topic = message.topic
        else { return nil }
        self.topic = String(cString: topic)
        payload = Array(UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen)))
        isRetained = message.retain
        var text: UnsafeMutablePointer<CChar>?
        mosquitto_property_read_string(properties, Int32(MQTT_PROP_RESPONSE_TOPIC.rawValue), &text, false)
        responseTopic = text.map { String(cString: $0) }
        free(text)
        var data: UnsafeMutableRawPointer?
        var length: UInt16 = 0
        mosquitto_property_read_binary(properties, Int32(MQTT_PROP_CORRELATION_DATA.rawValue), &data, &length, false)
        correlationData = data.map { Array(UnsafeRawBufferPointer(start: $0, count: Int(length))) }
        free(data)
    }
}
