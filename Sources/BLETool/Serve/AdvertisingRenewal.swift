import BluetoothCommandLine
import BluetoothLE

/// Keeps something on the air for as long as a device is served.
///
/// A controller that refuses a command, even several times, does not end that: connections and the database outlast it.
enum AdvertisingRenewal {
    /// The time before advertising that failed is tried again. It doubles with each failure.
    private static let shortestPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(30)

    /// Waits while it is on the air, and begins again if a controller has refused a command that it took before.
    ///
    /// - Parameters:
    ///   - end: waits until advertising has ended.
    ///   - begin: begins again. It may throw `.refusedByController`: then it is called again after a pause.
    /// - Throws: why the controller no longer takes it; `.cancelled`.
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
                guard case .refusedByController = error else { throw error }
                say("advertising \(current == nil ? "was refused" : "has ended"), \(error); trying again")
                current = nil
                try await TimeLimits.clock.sleep(for: pause)
                pause = min(pause * 2, longestPause)
            }
        }
    }
}
