import BluetoothCommandLine
import BluetoothLE

/// Keeps advertising active as long as a device is served.
///
/// Even if a controller repeatedly refuses a command, the device continues to be served: connections and the database
/// are kept.
enum AdvertisingRenewal {
    /// The delay before failed advertising is started again. It doubles with each failure.
    private static let shortestPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(30)

    /// Waits until advertising ends, and starts it again if the controller has refused a command that it accepted
    /// before.
    ///
    /// - Parameters:
    ///   - end: waits until advertising has ended.
    ///   - begin: starts advertising again. If it throws `.refusedByController`, it is called again after a delay.
    /// - Throws: the reason why the controller no longer accepts it; `.cancelled`.
    static func keep<Advertising>(
        _ first: Advertising, untilEnded end: (Advertising) async throws(BluetoothError) -> Void,
        begin: () async throws -> Advertising
    ) async throws {
        var current: Advertising? = first
        var pause = shortestPause
        while true {
            do {
                if let advertising = current {
                    try await end(advertising)
                    return
                }
                current = try await begin()
                pause = shortestPause
            } catch let error as BluetoothError {
                guard error.code == .refusedByController else { throw error }
                say("advertising \(current == nil ? "was refused" : "has ended"): \(error); trying again")
                current = nil
                try await TimeLimits.clock.sleep(for: pause)
                pause = min(pause * 2, longestPause)
            }
        }
    }
}
