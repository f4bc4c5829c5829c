import CSystemd
import Glibc

/// A connection to a message bus.
///
/// It belongs to one thread, which calls `process` when its descriptor is ready. Nothing blocks, except connecting and
/// requesting the name.
package final class BusConnection {
    let bus: OpaquePointer
    /// The calls to other programs.
    let calls: OutgoingCalls
    private var filter: OpaquePointer?
    /// Receives each method call to this program. The handler must answer it, now or later.
    private var handler: ((Message) -> Void)?

    /// Connects to a bus, and waits until it has accepted this program.
    package init(to address: BusAddress) throws(BusFailure) {
        var bus: OpaquePointer?
        let result: Int32
        switch address {
        case .system: result = sd_bus_open_system(&bus)
        case .session: result = sd_bus_open_user(&bus)
        case .address(let text): result = Self.open(text, &bus)
        }
        guard result >= 0, let bus else { throw .unreachable(address.description, errno: -result) }
        self.bus = bus
        calls = OutgoingCalls(bus)
        // Connecting is asynchronous. The unique name arrives when the bus has accepted this program.
        var name: UnsafePointer<CChar>?
        let accepted = sd_bus_get_unique_name(bus, &name)
        guard accepted >= 0, let name else { throw .unreachable(address.description, errno: -accepted) }
        uniqueName = String(cString: name)
    }

    private static func open(_ address: String, _ opened: inout OpaquePointer?) -> Int32 {
        var bus: OpaquePointer?
        let created = sd_bus_new(&bus)
        guard created >= 0 else { return created }
        var result = sd_bus_set_address(bus, address)
        if result >= 0 { result = sd_bus_set_bus_client(bus, 1) }
        if result >= 0 { result = sd_bus_negotiate_fds(bus, 1) }
        if result >= 0 { result = sd_bus_start(bus) }
        if result >= 0 { opened = bus } else { sd_bus_unref(bus) }
        return result
    }

    deinit {
        sd_bus_slot_unref(filter)
        sd_bus_flush_close_unref(bus)
    }

    /// The name that the bus has given to this connection.
    package private(set) var uniqueName = ""

    // MARK: - Names

    /// Takes a well-known name.
    ///
    /// - Throws: `.nameOwned` with the owner and its process; `.nameRefused` if the bus's policy forbids it.
    package func requestName(_ name: String) throws(BusFailure) {
        let result = sd_bus_request_name(bus, name, 0)
        switch -result {
        case ..<1: return
        case EEXIST: throw owner(of: name)
        case EACCES, EPERM: throw .nameRefused(name)
        case let number: throw .system("request the name \(name)", errno: number)
        }
    }

    private func owner(of name: String) -> BusFailure {
        var credentials: OpaquePointer?
        let mask = UInt64(SD_BUS_CREDS_PID | SD_BUS_CREDS_UNIQUE_NAME)
        guard sd_bus_get_name_creds(bus, name, mask, &credentials) >= 0 else {
            return .nameOwned(name, owner: "another program", process: nil)
        }
        defer { sd_bus_creds_unref(credentials) }
        var process: pid_t = 0
        let hasProcess = sd_bus_creds_get_pid(credentials, &process) >= 0
        var unique: UnsafePointer<CChar>?
        _ = sd_bus_creds_get_unique_name(credentials, &unique)
        let program = hasProcess ? ProcessName.of(process) : nil
        return .nameOwned(
            name, owner: program ?? unique.map { String(cString: $0) } ?? "another program",
            process: hasProcess ? process : nil)
    }

    // MARK: - Waiting

    /// The descriptor to wait for.
    package var descriptor: Int32 { sd_bus_get_fd(bus) }

    /// The events to wait for, as `poll` names them.
    package var events: Int32 { max(sd_bus_get_events(bus), 0) }

    /// When `process` must be called at the latest, in microseconds of the monotonic clock; nil for no limit.
    package var deadline: UInt64? {
        if calls.hasFailures { return 0 }
        var time = UInt64.max
        guard sd_bus_get_timeout(bus, &time) >= 0, time != .max else { return nil }
        return time
    }

    /// The number of messages that wait because the bus does not accept them.
    package var queuedMessages: UInt64 {
        var count: UInt64 = 0
        _ = sd_bus_get_n_queued_write(bus, &count)
        return count
    }

    /// Processes messages, at most `limit`, so that others of the thread get their turn.
    ///
    /// - Returns: whether more messages may be waiting.
    package func process(limit: Int) throws(BusFailure) -> Bool {
        calls.fail()
        for _ in 0..<limit {
            let result = sd_bus_process(bus, nil)
            if result == 0 { return false }
            if result < 0 { throw .closed }
        }
        return true
    }

    // MARK: - Receiving

    /// Sets the handler of method calls.
    package func receiveCalls(_ handler: @escaping (Message) -> Void) throws(BusFailure) {
        self.handler = handler
        let context = Unmanaged.passUnretained(self).toOpaque()
        let result = sd_bus_add_filter(
            bus, &filter,
            { pointer, context, _ in
                guard let pointer, let context else { return 0 }
                return Unmanaged<BusConnection>.fromOpaque(context).takeUnretainedValue().receive(Message(pointer))
            }, context)
        guard result >= 0 else { throw .system("receive calls", errno: -result) }
    }

    /// Returns 1 if the message was a call for the handler. sd-bus handles everything else, such as `Peer`'s methods.
    private func receive(_ message: Message) -> Int32 {
        guard message.kind == .methodCall, message.interface != "org.freedesktop.DBus.Peer", let handler else {
            return 0
        }
        handler(message)
        return 1
    }

    /// Receives the signals that a rule matches, until the match is released. The bus installs the rule after the
    /// messages sent before.
    package func match(_ rule: String, _ handler: @escaping (Message) -> Void) throws(BusFailure) -> Match {
        let match = Match(handler)
        let result = sd_bus_add_match_async(
            bus, &match.slot, rule,
            { pointer, context, _ in
                guard let pointer, let context else { return 0 }
                Unmanaged<Match>.fromOpaque(context).takeUnretainedValue().handler(Message(pointer))
                return 0
            },
            // A rule that the bus refuses is never matched.
            { _, _, _ in 0 }, Unmanaged.passUnretained(match).toOpaque())
        guard result >= 0 else { throw .system("add a match rule", errno: -result) }
        return match
    }

    /// A rule for received signals. Releasing it removes the rule.
    package final class Match {
        fileprivate var slot: OpaquePointer?
        fileprivate let handler: (Message) -> Void

        fileprivate init(_ handler: @escaping (Message) -> Void) { self.handler = handler }

        deinit { sd_bus_slot_unref(slot) }
    }
}

/// The name of another program.
enum ProcessName {
    /// The name of a process; nil if it cannot be read.
    static func of(_ process: pid_t) -> String? {
        guard let file = fopen("/proc/\(process)/comm", "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 64)
        guard fgets(&line, Int32(line.count), file) != nil else { return nil }
        let name = line.prefix { $0 != 0 && $0 != CChar(10) }.map(UInt8.init(bitPattern:))
        return name.isEmpty ? nil : BusText.repairing(name)
    }
}
