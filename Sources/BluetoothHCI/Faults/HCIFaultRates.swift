/// The rates and durations of faults that are applied to the packets between a host and its controller.
///
/// A rate is the probability, from 0 to 1, that the fault is applied to a packet of the kind it concerns. At most one
/// fault is applied to a packet. If the rates for one kind of packet add up to more than 1, the faults listed last
/// occur less often than requested.
public struct HCIFaultRates: Equatable, Sendable {
    // MARK: Answers to commands

    /// The rate of Command Complete and Command Status events that never reach the host.
    public var unansweredCommands = 0.0
    /// The rate of Command Complete and Command Status events that are delayed by `answerDelay`. Later packets overtake
    /// them.
    public var lateAnswers = 0.0
    /// The rate of Command Complete and Command Status events that are delivered twice.
    public var doubledAnswers = 0.0
    /// The rate of Command Complete and Command Status events after which the controller accepts no commands for now
    /// (Num_HCI_Command_Packets is 0). A Command Complete event without a command returns the credits after
    /// `creditDelay` (Core 5.4, Vol 4, Part E, 4.4).
    public var withheldCredits = 0.0

    // MARK: Number Of Completed Packets

    /// The rate of Number Of Completed Packets events that are delayed by `completionDelay`. Later packets overtake
    /// them, even the event that reports the end of the link.
    public var lateCompletions = 0.0
    /// The rate of Number Of Completed Packets events that never reach the host. Their buffers stay occupied until the
    /// link ends.
    public var lostCompletions = 0.0
    /// The rate of Number Of Completed Packets events that report up to three packets too many.
    public var excessCompletions = 0.0

    // MARK: Every packet

    /// The rate of events, other than Command Complete, Command Status and Number Of Completed Packets, that are
    /// delivered twice.
    public var doubledEvents = 0.0
    /// The rate of ACL data packets that are delivered twice, in either direction. The receiver can't distinguish them
    /// from data that was sent twice.
    public var doubledData = 0.0
    /// The rate of packets whose end is missing. Their length field is adjusted, so a stream of packets stays
    /// synchronized.
    public var cut = 0.0
    /// The rate of packets with up to eight additional octets. Their length field includes these octets.
    public var lengthened = 0.0
    /// The rate of packets whose end is missing although their length field is unchanged. The rest of a stream of
    /// packets (H4 on a socket or a serial line) is then unreadable, so leave this at 0 for streams.
    public var torn = 0.0
    /// The rate of packets at which all traffic in their direction is delayed by `delay`. The order is preserved.
    public var delays = 0.0

    // MARK: Packets to the host

    /// The rate of packets at which events are delayed by `overtakingDelay` and data overtakes them, or vice versa.
    /// Over USB, events and data use different endpoints, and the order is only preserved within each.
    public var overtakings = 0.0
    /// The rate of packets at which no packet reaches the host for the duration `silence`. All of them are delivered
    /// afterwards.
    public var silences = 0.0
    /// The rate of packets at which the controller reports a Hardware Error (7.7.16) and continues to work.
    public var hardwareErrors = 0.0
    /// The rate of packets at which the controller resets itself, which ends all its links, and reports a Hardware
    /// Error. `HCIFaults` simulates this with a Reset command whose response it keeps from the host.
    public var resets = 0.0

    // MARK: Durations

    /// The delay of every packet, in each direction. It is not counted as a fault.
    public var latency = Duration.zero
    /// The delay of a late answer. Hosts wait for 2 s or more.
    public var answerDelay: ClosedRange<Duration> = .milliseconds(1)...(.seconds(4))
    /// The time for which command credits are withheld.
    public var creditDelay: ClosedRange<Duration> = .milliseconds(1)...(.seconds(1))
    /// The delay of a late Number Of Completed Packets event.
    public var completionDelay: ClosedRange<Duration> = .milliseconds(1)...(.seconds(1))
    /// The delay of all traffic in one direction.
    public var delay: ClosedRange<Duration> = .milliseconds(1)...(.milliseconds(100))
    /// The delay of events or data while the other kind overtakes them.
    public var overtakingDelay: ClosedRange<Duration> = .milliseconds(1)...(.milliseconds(20))
    /// The time during which no packet reaches the host.
    public var silence: ClosedRange<Duration> = .seconds(1)...(.seconds(10))

    /// Creates rates without faults. Set the rates that you need.
    public init() {}

    /// No faults: every packet passes immediately and unchanged.
    public static let none = HCIFaultRates()

    /// Faults that a robust host survives, if necessary by recovery. About one packet in thirty is affected, and about
    /// one in a few thousand costs the host the controller's state.
    ///
    /// These rates include neither torn packets, which break a stream, nor duplicated data, which can't be
    /// distinguished from valid data.
    public static let badWeather: HCIFaultRates = {
        var rates = HCIFaultRates()
        rates.unansweredCommands = 0.002
        rates.lateAnswers = 0.01
        rates.doubledAnswers = 0.005
        rates.withheldCredits = 0.02
        rates.lateCompletions = 0.02
        rates.lostCompletions = 0.0002
        rates.excessCompletions = 0.002
        rates.doubledEvents = 0.005
        rates.cut = 0.0005
        rates.lengthened = 0.0005
        rates.delays = 0.01
        rates.overtakings = 0.01
        rates.silences = 0.0005
        rates.hardwareErrors = 0.0002
        rates.resets = 0.0002
        return rates
    }()
}
