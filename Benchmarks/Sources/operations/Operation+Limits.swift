/// The maximum cost of an operation.
struct Limits {
    /// The number of operations between two measurements.
    var count = 255
    /// Instructions per operation: the requirement and the aim. Nil means that there is no limit.
    var required: Int?
    var aim: Int?
    /// The exact number of allocations per operation. Nil means that there is no limit.
    var allocations: Int? = 0
}

extension Operation {
    var limits: Limits {
        switch self {
        case .notificationReceived20, .notificationReceived244, .notificationReceivedEncrypted:
            Limits(required: 450, aim: 400)
        // The aim is 1.2 times the cost on the fixed channel.
        case .notificationReceivedEnhanced: Limits(required: 550, aim: 492)
        case .notificationSentEnhanced: Limits(required: 656, aim: 613)
        case .notificationSent20, .notificationSent244: Limits(required: 550, aim: 500)
        case .notificationCompleted: Limits(required: nil, aim: nil)
        // The aim is two instructions per octet.
        case .channelReceived: Limits(required: 2115, aim: 2 * Channels.sduLength)
        // The peer grants credits once in every 15 SDUs, and the application receives an event.
        case .channelSent: Limits(required: 2070, aim: 2 * Channels.sduLength, allocations: nil)
        case .readAnswered20, .readAnswered100, .readAnswered1000, .readAnswered10000:
            Limits(required: 985, aim: 900)
        case .writeCommandHandled: Limits(required: 850, aim: 800)
        case .serviceReplaced100, .serviceReplaced4000: Limits(required: 60000, aim: nil, allocations: nil)
        case .advertisingReport: Limits(required: 600, aim: 500)
        case .block: Limits(count: 10 * PrivateAddresses.batch, required: 150, aim: nil, allocations: nil)
        case .privateAddress10: Limits(count: 500, required: 4_500, aim: nil, allocations: nil)
        case .crowd1000: Limits(count: 2, required: 50_000_000, aim: nil, allocations: nil)
        case .sightingRepeated64, .sightingRepeated65536: Limits(required: 1000, aim: 500)
        case .sightingReplaced64, .sightingReplaced65536: Limits(required: 4000, aim: 2000, allocations: 1)
        case .discovery: Limits(count: 8, required: 184_644, aim: 150_000, allocations: nil)
        case .endToEnd: Limits(count: 2000, required: nil, aim: nil)
        case .allocating: Limits(required: nil, aim: nil, allocations: 1)
        }
    }

    var title: String {
        switch self {
        case .notificationReceived20: "notification received, 20 B"
        case .notificationReceived244: "notification received, 244 B"
        case .notificationReceivedEncrypted: "notification received, 20 B, encrypted link"
        case .notificationReceivedEnhanced: "notification received, 20 B, over an enhanced ATT bearer"
        case .notificationSentEnhanced: "notification sent, 20 B, over an enhanced ATT bearer"
        case .notificationSent20: "notification sent, 20 B"
        case .notificationSent244: "notification sent, 244 B"
        case .notificationCompleted: "… and its Number Of Completed Packets event"
        case .channelReceived: "SDU of 986 B over a channel received, in 4 K-frames of 247 B"
        case .channelSent: "SDU of 986 B over a channel sent, in 4 K-frames of 247 B"
        case .readAnswered20: "read request answered, 20 attributes"
        case .readAnswered100: "read request answered, 100 attributes"
        case .readAnswered1000: "read request answered, 1000 attributes"
        case .readAnswered10000: "read request answered, 10,000 attributes"
        case .writeCommandHandled: "write command handled, 20 B"
        case .serviceReplaced100: "service of 5 attributes withdrawn and published again, 100 services"
        case .serviceReplaced4000: "service of 5 attributes withdrawn and published again, 4000 services"
        case .advertisingReport: "advertising report (31 B, 4 structures), AD read"
        case .block: "AES block, 50 with one key"
        case .privateAddress10: "report from a new private address, 250 a second, 10 bonds"
        case .crowd1000: "a second of 1,000 reports of 10,000 devices, 250 from new private addresses, 1,000 bonds"
        case .sightingRepeated64: "report of a device a scan knows, one of 64"
        case .sightingRepeated65536: "report of a device a scan knows, one of 65,536"
        case .sightingReplaced64: "report of a device a scan does not know, full with 64"
        case .sightingReplaced65536: "report of a device a scan does not know, full with 65,536"
        case .discovery: "discovery of 100 services × 2 characteristics with a descriptor, MTU 517"
        case .endToEnd: "notification end to end: 2 hosts, 2 controllers, air"
        case .allocating: "one allocation, to see that it is counted"
        }
    }

    /// A tab-separated line for Scripts/benchmark: name, count, requirement, aim, allocations, title.
    var row: String {
        let numbers = [limits.count, limits.required, limits.aim, limits.allocations].map { $0.map { "\($0)" } ?? "-" }
        return ([rawValue] + numbers + [title]).joined(separator: "\t")
    }
}
