import BluetoothBase
import BluetoothHost

/// A user of an adapter in a scenario, through one of the faces.
protocol SimulatedUser: AnyObject {
    /// The station of its adapter.
    var station: Int { get }
    /// Whether it uses its adapter.
    var isAttached: Bool { get }
    /// How many calls it has made.
    var callCount: Int { get }

    /// What it wants of the controller: holds as long as the adapter is there.
    var wantsScan: Bool { get }
    var wantsAdvertising: Bool { get }
    /// How many links it knows of.
    var linkCount: Int { get }

    /// Whether it gives its host a reason to begin to pair with a station.
    func wantsPairing(with station: Int) -> Bool

    /// Begins to use its adapter.
    func join()
    func perform(_ action: Scenario.Action)
    /// Whether it is subscribed to a characteristic of a station, for good as far as it knows.
    func isSubscribed(to characteristic: SimulatedService.Characteristic, of station: Int) -> Bool
    /// Whether it has subscribed to what was a characteristic of a station, and is another's by now, or none.
    func isSubscribedByOldHandles(of station: Int) -> Bool
    /// The last value it has received of a stream; nil if there was none, or if values are known to be lost.
    func lastReceived(of stream: UInt32, from station: Int) -> UInt32?
    /// Ends what waits for somebody else, such as attempts to connect: all the rest must end by itself.
    func calm()
    /// What is not as it must be when all is quiet and the user is still there.
    func checkQuiet()
    /// Leaves its adapter.
    func leave()
}
