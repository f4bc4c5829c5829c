/// The times and intervals the Generic Access Profile recommends (Core 5.4, Vol 3, Part C, Appendix A). Their names are
/// those of the table, without `TGAP`.
public enum GAPTiming {
    // MARK: Discovery

    /// The minimum duration of general discovery.
    public static let generalDiscoveryScanMinimum: Duration = .milliseconds(10_240)
    /// The minimum duration of limited discovery.
    public static let limitedDiscoveryScanMinimum: Duration = .milliseconds(10_240)
    /// The maximum time in limited discoverable mode.
    public static let limitedAdvertisingTimeout: Duration = .seconds(180)

    // MARK: Scanning

    /// The scan interval while a user is waiting: anything in this range.
    public static let scanFastInterval: ClosedRange<Duration> = .milliseconds(30) ... .milliseconds(60)
    /// The scan window while a user is waiting.
    public static let scanFastWindow: Duration = .milliseconds(30)
    /// How long to scan fast.
    public static let scanFastPeriod: Duration = .milliseconds(30_720)
    /// The scan interval in the background.
    public static let scanSlowInterval1: Duration = .milliseconds(1_280)
    /// The scan window that goes with `scanSlowInterval1`.
    public static let scanSlowWindow1: Duration = .microseconds(11_250)
    /// The scan interval in the background if power matters even more.
    public static let scanSlowInterval2: Duration = .milliseconds(2_560)
    /// The scan window that goes with `scanSlowInterval2`.
    public static let scanSlowWindow2: Duration = .microseconds(22_500)

    // MARK: Advertising

    /// The advertising interval while a user is waiting, for connectable advertising.
    public static let advertisingFastInterval1: ClosedRange<Duration> = .milliseconds(30) ... .milliseconds(60)
    /// The advertising interval while a user is waiting, for advertising that is not connectable.
    public static let advertisingFastInterval2: ClosedRange<Duration> = .milliseconds(100) ... .milliseconds(150)
    /// The advertising interval in the background.
    public static let advertisingSlowInterval: ClosedRange<Duration> = .milliseconds(1_000) ... .milliseconds(1_200)
    /// How long to advertise fast.
    public static let advertisingFastPeriod: Duration = .seconds(30)

    // MARK: Connections

    /// The connection interval of a new link.
    public static let initialConnectionInterval: ClosedRange<Duration> = .milliseconds(30) ... .milliseconds(50)
    /// How long a central leaves the parameters of a new link alone.
    public static let connectionPauseCentral: Duration = .seconds(1)
    /// How long a peripheral leaves the parameters of a new link alone.
    public static let connectionPausePeripheral: Duration = .seconds(5)
    /// How long to wait before asking again for connection parameters that were refused.
    public static let connectionParameterTimeout: Duration = .seconds(30)

    // MARK: Privacy

    /// How long a private address is used.
    public static let privateAddressInterval: Duration = .seconds(15 * 60)
}
