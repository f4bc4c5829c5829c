/// The times and intervals that the Generic Access Profile recommends (Core 5.4, Vol 3, Part C, Appendix A). Their
/// names are those of the table, without `TGAP`.
public enum GAPTiming {
    // MARK: Discovery

    /// The minimum duration of general discovery.
    public static let generalDiscoveryScanMinimum: Duration = .milliseconds(10_240)
    /// The minimum duration of limited discovery.
    public static let limitedDiscoveryScanMinimum: Duration = .milliseconds(10_240)
    /// The maximum time in limited discoverable mode.
    public static let limitedAdvertisingTimeout: Duration = .seconds(180)

    // MARK: Scanning

    /// The range of scan intervals while a user is waiting.
    public static let scanFastInterval: ClosedRange<Duration> = .milliseconds(30) ... .milliseconds(60)
    /// The scan window while a user is waiting.
    public static let scanFastWindow: Duration = .milliseconds(30)
    /// The duration of fast scanning.
    public static let scanFastPeriod: Duration = .milliseconds(30_720)
    /// The scan interval in the background.
    public static let scanSlowInterval1: Duration = .milliseconds(1_280)
    /// The scan window that goes with `scanSlowInterval1`.
    public static let scanSlowWindow1: Duration = .microseconds(11_250)
    /// The scan interval in the background if low power consumption is even more important.
    public static let scanSlowInterval2: Duration = .milliseconds(2_560)
    /// The scan window that goes with `scanSlowInterval2`.
    public static let scanSlowWindow2: Duration = .microseconds(22_500)

    // MARK: Advertising

    /// The advertising interval while a user is waiting, for connectable advertising.
    public static let advertisingFastInterval1: ClosedRange<Duration> = .milliseconds(30) ... .milliseconds(60)
    /// The advertising interval while a user is waiting, for non-connectable advertising.
    public static let advertisingFastInterval2: ClosedRange<Duration> = .milliseconds(100) ... .milliseconds(150)
    /// The advertising interval in the background.
    public static let advertisingSlowInterval: ClosedRange<Duration> = .milliseconds(1_000) ... .milliseconds(1_200)
    /// The duration of fast advertising.
    public static let advertisingFastPeriod: Duration = .seconds(30)

    // MARK: Connections

    /// The connection interval of a new link.
    public static let initialConnectionInterval: ClosedRange<Duration> = .milliseconds(30) ... .milliseconds(50)
    /// The time a central waits before it updates the parameters of a new link.
    public static let connectionPauseCentral: Duration = .seconds(1)
    /// The time a peripheral waits before it requests new parameters for a new link.
    public static let connectionPausePeripheral: Duration = .seconds(5)
    /// The time to wait before requesting connection parameters again that were rejected.
    public static let connectionParameterTimeout: Duration = .seconds(30)

    // MARK: Privacy

    /// The time after which a private address is replaced.
    public static let privateAddressInterval: Duration = .seconds(15 * 60)
}
