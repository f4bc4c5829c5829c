import BluetoothHost
import BluetoothUsers
import Synchronization
import Testing
import VirtualRadio

@testable import BluetoothAdapter

struct MailboxTests {
    private final class Nobody: AdapterObserver {
        func receive(_ batch: borrowing EventBatch) {}
    }

    private let mailbox = Mailbox()

    private func needsWake(_ receipt: Mailbox.Receipt) -> Bool? {
        switch receipt {
        case .refused: nil
        case .taken(let needsWake): needsWake
        }
    }

    private func put(_ count: Int = 1) -> [Bool?] {
        (0..<count).map { _ in needsWake(mailbox.put(HostCall(user: UserID(number: 1), kind: .cancel))) }
    }

    /// Takes everything out, one turn at a time.
    private func takeAll() -> [Mailbox.Content] {
        var turns: [Mailbox.Content] = []
        while !mailbox.leave() {
            var content = Mailbox.Content()
            mailbox.take(into: &content)
            turns.append(content)
        }
        return turns
    }

    @Test("A reader that may sleep is woken by the first call only")
    func waking() {
        #expect(put(2) == [false, false], "it checks the mailbox before it sleeps,")
        #expect(!mailbox.leave() && !mailbox.isEmpty, "and then must not")
        #expect(takeAll().map(\.calls.count) == [2])
        #expect(mailbox.leave() && mailbox.isEmpty)
        #expect(put(3) == [true, false, false])
        #expect(takeAll().map(\.calls.count) == [3])
        var content = Mailbox.Content()
        mailbox.take(into: &content)
        #expect(content.calls.isEmpty)
        #expect(put() == [false], "it has checked without finding anything")
    }

    @Test("An observer is taken together with the call that attaches its user", arguments: [0, 511, 512, 600, 1024])
    func attaching(behind count: Int) {
        for _ in 0..<2 {
            _ = put(count)
            _ = mailbox.put(UserID(number: 2), Nobody())
        }
        let turns = takeAll()
        for turn in turns {
            let attaching = turn.calls.count { if case .attach = $0.kind { true } else { false } }
            #expect(turn.observers.count == attaching)
        }
        #expect(turns.reduce(0) { $0 + $1.observers.count } == 2)
        #expect(turns.reduce(0) { $0 + $1.calls.count } == 2 * (count + 1))
    }

    @Test("Closing, and waiting for idleness, follow the calls posted before")
    func order() async {
        var turns: [Mailbox.Content] = []
        await withCheckedContinuation { continuation in
            _ = put(1100)
            _ = mailbox.put(continuation)
            _ = mailbox.putClosing()
            turns = takeAll()
            for turn in turns { for waiter in turn.awaitingIdleness { waiter.resume() } }
        }
        #expect(turns.map(\.calls.count) == [512, 512, 76])
        #expect(turns.map(\.isToClose) == [false, false, true])
        #expect(turns.map(\.awaitingIdleness.count) == [0, 0, 1])
    }

    @Test("A closed mailbox still returns its content, and refuses more")
    func closed() {
        _ = put(2)
        mailbox.close()
        #expect(put() == [nil] && needsWake(mailbox.put(UserID(number: 2), Nobody())) == nil)
        #expect(needsWake(mailbox.putClosing()) == nil)
        #expect(takeAll().map(\.calls.count) == [2])
        #expect(put() == [nil] && mailbox.leave() && mailbox.isEmpty)
    }

    /// Posts many calls as soon as the adapter is ready, and then attaches another user.
    private final class Crowd: AdapterObserver {
        let runner: AdapterRunner
        let other = Mutex<Witness?>(nil)

        init(_ runner: AdapterRunner) { self.runner = runner }

        func receive(_ batch: borrowing EventBatch) {
            for event in batch.events {
                guard case .adapter(.ready) = event else { continue }
                for _ in 0..<600 { runner.post(.cancel, token: .none, from: batch.user) }
                other.withLock { $0 = $0 ?? Witness(runner) }
            }
        }
    }

    @Test("A user that attaches behind more calls than one turn carries out receives its events")
    func crowd() throws {
        let radio = VirtualRadio(time: .manual)
        let crowd = Crowd(try AdapterRunner(radio.addController(), options: .init(host: HostConfiguration(seed: 1))))
        _ = crowd.runner.attach(crowd)
        radio.advanceHosts(by: .seconds(1))
        let other = try #require(crowd.other.withLock { $0 })
        #expect(other.take() == ["ready"])
        crowd.runner.close()
        #expect(other.take().last == "closed")
    }

    @Test("A user cannot be attached without an observer")
    func posted() throws {
        let radio = VirtualRadio(time: .manual)
        let runner = try AdapterRunner(radio.addController(), options: .init(host: HostConfiguration(seed: 1)))
        #expect(!runner.post(.attach, from: UserID(number: 99)))
        let user = Witness(runner)
        radio.advanceHosts(by: .seconds(1))
        #expect(user.take().last == "ready")
        runner.close()
    }
}
