/// How often each fault befalls the packets between a host and its controller, and how long the faults last.
///
/// A rate is the probability, from 0 to 1, that the fault befalls a packet of the kind it concerns. A packet suffers one
/// fault at most. Where the rates of one kind add up to more than 1, those listed last come too short.
public struct HCIFaultRates: Equatable, Sendable {
    // MARK: Answers to commands

    /// Command Complete or Command Status that never reaches the host.
    public var unansweredCommands = 0.0
    /// … that is late by `answerDelay`, overtaken by everything behind it.
    public var lateAnswers = 0.0
    /// … that comes twice.
    public var doubledAnswers = 0.0
    /// … that says the controller takes no command for now (Num_HCI_Command_Packets is 0). A Command Complete without a
    /// command gives the credits after `creditDelay` (Core 5.4, Vol 4, Part E, 4.4).
    public var withheldCredits = 0.0

    // MARK: Number Of Completed Packets

    /// … that is late by `completionDelay`, overtaken by everything behind it, even by the end of its link.
    public var lateCompletions = 0.0
    /// … that never reaches the host. Its buffers stay taken until the link ends.
    public var lostCompletions = 0.0
    /// … that counts up to three packets too many.
    public var excessCompletions = 0.0

    // MARK: Every packet

    /// An event that comes twice, except those above.
    public var doubledEvents = 0.0
    /// ACL data that comes twice, in either direction. No host can know it from data that was sent twice.
    public var doubledData = 0.0
    /// A packet whose end is missing. Its header says so: a stream of packets stays in step.
    public var cut = 0.0
    /// A packet with up to eight octets too many. Its header counts them.
    public var lengthened = 0.0
    /// A packet whose end is missing although its header promises more. A stream of packets (H4 on a socket, or on a
    /// line) is not readable behind it, so leave this at 0 for them.
    public var torn = 0.0
    /// Everything in the direction of the packet waits for `delay`, in order.
    public var delays = 0.0

    // MARK: Packets to the host

    /// Events wait for `overtakingDelay` and data overtakes them, or the other way round: over USB they come by
    /// different endpoints, each with an order of its own.
    public var overtakings = 0.0
    /// Nothing reaches the host for `silence`. It all follows then.
    public var silences = 0.0
    /// The controller reports a Hardware Error (7.7.16), and goes on.
    public var hardwareErrors = 0.0
    /// The controller has reset itself, with all its links, and reports a Hardware Error. `HCIFaults` does it by a Reset
    /// whose answer it keeps.
    public var resets = 0.0

    // MARK: Durations

    /// How long every packet takes, in each direction, without any fault.
    public var latency = Duration.zero
    /// How late an answer is. Hosts wait two seconds, or more.
    public var answerDelay: ClosedRange<Duration> = .milliseconds(1)...(.seconds(4))
    /// How long the credits for commands are withheld.
    public var creditDelay: ClosedRange<Duration> = .milliseconds(1)...(.seconds(1))
    /// How late Number Of Completed Packets is.
    public var completionDelay: ClosedRange<Duration> = .milliseconds(1)...(.seconds(1))
    /// How long everything in one direction waits.
    public var delay: ClosedRange<Duration> = .milliseconds(1)...(.milliseconds(100))
    /// How long events or data wait while the others overtake them.
    public var overtakingDelay: ClosedRange<Duration> = .milliseconds(1)...(.milliseconds(20))
    /// How long nothing reaches the host.
    public var silence: ClosedRange<Duration> = .seconds(1)...(.seconds(10))

    /// No faults. Set those that are wanted.
    public init() {}

    /// No faults: every packet passes as it is, at once.
    public static let none = HCIFaultRates()

    /// What a good host outlives, by recovery if need be: one packet in thirty or so suffers something, and one in some
    /// thousand costs the host its controller's state.
    ///
    /// Neither torn packets, which end a stream, nor doubled data, which nobody can tell from data.
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
