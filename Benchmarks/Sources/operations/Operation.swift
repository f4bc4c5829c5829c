/// An operation to measure. Each sets itself up, and then repeats the same step.
///
/// Only the host is measured: from the bytes of a packet from the controller to the subscriber's closure, or from the
/// call to the bytes of a packet for the controller.
enum Operation: String, CaseIterable {
    case notificationReceived20 = "notification-received-20"
    case notificationReceived244 = "notification-received-244"
    case notificationReceivedEncrypted = "notification-received-20-encrypted"
    case notificationReceivedEnhanced = "notification-received-20-enhanced"
    case notificationSent20 = "notification-sent-20"
    case notificationSent244 = "notification-sent-244"
    case notificationSentEnhanced = "notification-sent-20-enhanced"
    case notificationCompleted = "notification-sent-20-completed"
    case channelReceived = "channel-received"
    case channelSent = "channel-sent"
    case readAnswered20 = "read-answered-20"
    case readAnswered100 = "read-answered-100"
    case readAnswered1000 = "read-answered-1000"
    case readAnswered10000 = "read-answered-10000"
    case writeCommandHandled = "write-command-handled"
    case serviceReplaced100 = "service-replaced-100"
    case serviceReplaced4000 = "service-replaced-4000"
    case advertisingReport = "advertising-report"
    case block = "aes-block"
    case privateAddress10 = "private-address-10"
    case crowd1000 = "crowd-1000"
    case sightingRepeated64 = "sighting-repeated-64"
    case sightingRepeated65536 = "sighting-repeated-65536"
    case sightingReplaced64 = "sighting-replaced-64"
    case sightingReplaced65536 = "sighting-replaced-65536"
    case discovery = "discovery"
    case endToEnd = "end-to-end"
    case allocating = "allocating"

    /// Performs the operation `count` times, and returns a value that depends on every repetition.
    func run(_ count: Int) -> Int {
        switch self {
        case .notificationReceived20: Central.receiveNotifications(count, length: 20)
        case .notificationReceived244: Central.receiveNotifications(count, length: 244)
        case .notificationReceivedEncrypted: Central.receiveNotifications(count, length: 20, isEncrypted: true)
        case .notificationReceivedEnhanced: Enhanced.receiveNotifications(count, length: 20)
        case .notificationSent20: Peripheral.notify(count, length: 20, completing: 255)
        case .notificationSent244: Peripheral.notify(count, length: 244, completing: 255)
        case .notificationSentEnhanced: Enhanced.notify(count, length: 20)
        case .notificationCompleted: Peripheral.notify(count, length: 20, completing: 1)
        case .channelReceived: Channels.receive(count)
        case .channelSent: Channels.send(count)
        case .readAnswered20: Peripheral.answerReads(count, among: 20)
        case .readAnswered100: Peripheral.answerReads(count, among: 100)
        case .readAnswered1000: Peripheral.answerReads(count, among: 1000)
        case .readAnswered10000: Peripheral.answerReads(count, among: 10000)
        case .writeCommandHandled: Peripheral.handleWriteCommands(count)
        case .serviceReplaced100: Peripheral.replaceServices(count, among: 100)
        case .serviceReplaced4000: Peripheral.replaceServices(count, among: 4000)
        case .advertisingReport: Central.receiveAdvertisingReports(count)
        case .block: PrivateAddresses.encryptBlocks(count)
        case .privateAddress10: PrivateAddresses.receiveNew(count, bonds: 10)
        case .crowd1000: PrivateAddresses.receiveCrowd(count, bonds: 1_000)
        case .sightingRepeated64: Scanning.repeatReports(count, from: 64)
        case .sightingRepeated65536: Scanning.repeatReports(count, from: 65_536)
        case .sightingReplaced64: Scanning.replaceDevices(count, among: 64)
        case .sightingReplaced65536: Scanning.replaceDevices(count, among: 65_536)
        case .discovery: Discovery().run(count)
        case .endToEnd: EndToEnd.notify(count)
        case .allocating: Self.allocate(count)
        }
    }

    /// Allocates once per repetition, to show that the measurement counts allocations.
    private static func allocate(_ count: Int) -> Int {
        var sum = 0
        for index in 0..<count { sum += makeArray(index).count }
        return sum
    }

    @inline(never)
    private static func makeArray(_ index: Int) -> [Int] { [index] }
}
