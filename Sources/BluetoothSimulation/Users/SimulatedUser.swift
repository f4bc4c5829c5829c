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

    func perform(_ action: Scenario.Action)
    /// Ends what waits for somebody else, such as attempts to connect: all the rest must end by itself.
    func calm()
    /// What is not as it must be when all is quiet and the user is still there.
    func checkQuiet()
    /// Leaves its adapter.
    func leave()
}

/// What users wish of the controller of their station.
struct Wishes: OptionSet {
    let rawValue: UInt8
    static let scan = Wishes(rawValue: 1)
    static let advertise = Wishes(rawValue: 2)
}
