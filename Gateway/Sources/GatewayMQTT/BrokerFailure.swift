import CMosquitto
import Foundation

/// The reason why there is no connection to the broker, in a sentence that says what to do.
public struct BrokerFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The reason, with a remedy if possible.
    public var description: String

    init(_ description: String) { self.description = description }

    /// The broker has refused the connection (MQTT 3.1.1, 3.2.2.3; MQTT 5, 3.2.2.2).
    init(connectCode code: Int32) {
        switch code {
        case 1, 132: self.init("the broker does not support this version of MQTT; set broker.protocol to the other one")
        case 2, 133: self.init("the broker does not accept the client identifier; set broker.client_id")
        case 4, 134: self.init("the broker does not accept the user name or the password")
        case 5, 135:
            self.init("the broker did not authorize this client: the user name or the password may be missing or wrong")
        case 3, 136, 137: self.init("the broker is not available at the moment")
        case 138: self.init("the broker has banned this client")
        default: self.init("the broker refused the connection: \(String(cString: mosquitto_reason_string(code)))")
        }
    }

    /// The broker has ended the connection with a reason (MQTT 5, 3.14.2.1).
    init(disconnectCode code: Int32, detail: String?) {
        switch code {
        case 142:
            self.init("another client connected with the same identifier; give each gateway a unique name")
        default:
            self.init(resultCode: code, detail: detail)
        }
    }

    /// A call to libmosquitto has failed.
    init(resultCode code: Int32, systemError: Int32 = 0, detail: String? = nil) {
        let text: String
        switch mosq_err_t(code) {
        case MOSQ_ERR_ERRNO where systemError != 0: text = String(cString: strerror(systemError))
        case MOSQ_ERR_EAI, MOSQ_ERR_LOOKUP: text = "host not found"
        case MOSQ_ERR_CONN_LOST: text = "the connection was lost"
        case MOSQ_ERR_KEEPALIVE: text = "the broker no longer answers"
        default: text = String(cString: mosquitto_strerror(code))
        }
        // OpenSSL's explanation of a certificate error is available only as a log message.
        self.init(detail.map { "\(text) (\($0))" } ?? text)
    }
}
