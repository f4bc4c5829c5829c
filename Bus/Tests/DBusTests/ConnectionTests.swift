import DBus
import Foundation
import Testing

@Suite struct ConnectionTests {
    @Test func `the error for a name that is taken names the owner and its process`() throws {
        let bus = try PrivateBus(), first = try bus.connect(), second = try bus.connect()
        try first.requestName("org.example.Name")
        let process = ProcessInfo.processInfo.processIdentifier
        do throws(BusFailure) {
            try second.requestName("org.example.Name")
            Issue.record("the second owner was accepted")
        } catch {
            guard case .nameOwned("org.example.Name", _, process: process) = error else {
                Issue.record("\(error)")
                return
            }
            #expect("\(error)".contains("kill \(process)"))
        }
    }

    @Test func `an address without a bus is reported with what to do`() {
        #expect(throws: BusFailure.self) { try BusConnection(to: .address("unix:path=/nonexistent/bus")) }
        do throws(BusFailure) {
            _ = try BusConnection(to: .address("unix:path=/nonexistent/bus"))
        } catch {
            #expect("\(error)".contains("--bus"))
        }
    }

    @Test func `a call to a client that is gone fails`() throws {
        let bus = try PrivateBus(), client = try bus.connect()
        let reply = try bus.call(client, ":1.999", "/", "org.example.Echo", "Echo")
        #expect(throws: BusError.self) { try reply.get() }
    }

    @Test func `a match receives signals until it is released`() throws {
        let bus = try PrivateBus(), sender = try bus.connect(), receiver = try bus.connect()
        var received: [String] = []
        var match: BusConnection.Match? = try receiver.match("type='signal',interface='org.example.A'") {
            received.append($0.member ?? "")
        }
        func emit(_ interface: String, _ member: String) throws {
            try sender.send(try sender.makeSignal(.root, interface, member))
        }
        // The reply shows that the bus has installed the rule.
        _ = try bus.call(receiver, "org.freedesktop.DBus", "/", "org.freedesktop.DBus.Peer", "Ping")
        try emit("org.example.A", "First")
        try bus.run { received == ["First"] }
        match = nil
        _ = try bus.call(receiver, "org.freedesktop.DBus", "/", "org.freedesktop.DBus.Peer", "Ping")
        try emit("org.example.A", "Second")
        _ = try bus.call(sender, receiver.uniqueName, "/", "org.freedesktop.DBus.Peer", "Ping")
        #expect(received == ["First"])
        #expect(match == nil)
    }
}
