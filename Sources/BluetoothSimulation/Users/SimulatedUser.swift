import BluetoothBase
import BluetoothHost

/// A user of an adapter in a scenario, through one of the APIs.
protocol SimulatedUser: AnyObject {
    /// The station of the adapter.
    var station: Int { get }
    /// Whether the user is attached to its adapter.
    var isAttached: Bool { get }
    /// The number of calls the user has made.
    var callCount: Int { get }

    /// The activities that the user wants from the controller, as long as the adapter is available.
    var wantsScan: Bool { get }
    var wantsAdvertising: Bool { get }
    /// The number of links the user knows of.
    var linkCount: Int { get }

    /// Whether the user gives its host a reason to start pairing with a station.
    func wantsPairing(with station: Int) -> Bool

    /// Starts using the adapter.
    func join()
    func perform(_ action: Scenario.Action)
    /// Whether the user is subscribed to a characteristic of a station, as far as it knows.
    func isSubscribed(to characteristic: SimulatedService.Characteristic, of station: Int) -> Bool
    /// Whether the user has subscribed by a handle that no longer belongs to that characteristic of a station.
    func isSubscribedByOldHandles(of station: Int) -> Bool
    /// The last value received in a stream; nil if there is none, or if values are known to be lost.
    func lastReceived(of stream: UInt32, from station: Int) -> UInt32?
    /// Ends everything that waits for other devices, such as connection attempts. All the rest must end without help.
    func calm()
    /// Checks the conditions that must hold when the world is quiet and the user is still attached.
    func checkQuiet()
    /// Stops using the adapter.
    func leave()
}
