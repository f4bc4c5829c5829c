import Foundation
import GatewayConfiguration
import Synchronization

/// Asks a broker for its retained messages.
public enum MQTTInquiry {
    /// The retained messages whose topics match one of the filters. Blocks the calling thread until about half a second
    /// after the last message.
    ///
    /// - Parameter limit: the maximum number of messages.
    /// - Throws: the reason why the broker cannot be asked.
    public static func retained(
        matching filters: [String], at broker: BrokerSettings, timeout: Duration = .seconds(10), limit: Int = 100_000
    ) throws(BrokerFailure) -> [MQTTMessage] {
        let client = try MosquittoClient(
            broker, clientID: "ble-gateway-status-\(UInt32.random(in: 0 ... .max))", will: nil)
        try client.connect()
        let clock = ContinuousClock()
        var end = clock.now.advanced(by: timeout)
        var messages: [MQTTMessage] = []
        var refusal: BrokerFailure?
        var isConnected = false
        while clock.now < end, messages.count < limit {
            var descriptor = pollfd(
                fd: client.socket, events: Int16(POLLIN | (client.wantsToWrite ? POLLOUT : 0)), revents: 0)
            _ = poll(&descriptor, 1, Int32(max(1, min(500, clock.now.duration(to: end) / .milliseconds(1)))))
            let happened = Int32(descriptor.revents)
            client.turn(isReadable: happened & (POLLIN | POLLHUP) != 0, isWritable: happened & POLLOUT != 0)
            for event in client.takeEvents() {
                switch event {
                case .connected(let failure):
                    refusal = failure
                    guard failure == nil else { continue }
                    isConnected = true
                    for filter in filters { try client.subscribe(to: filter) }
                    end = clock.now.advanced(by: .seconds(1))
                case .message(let message):
                    messages.append(message)
                    // More messages may follow.
                    end = min(end.advanced(by: .milliseconds(200)), clock.now.advanced(by: .milliseconds(500)))
                case .disconnected(let failure): throw refusal ?? failure
                case .published: break
                }
            }
        }
        guard isConnected else { throw BrokerFailure("the broker does not answer") }
        client.disconnect()
        client.turn(isReadable: false, isWritable: true)
        return messages
    }
}
