import BluetoothATT
import BluetoothAdapter
import Synchronization
import Testing

@Suite("Senders that wait for a credit")
struct CreditLineTests {
    /// Records which senders got a credit, and which were told that there is none.
    private final class Log: Sendable {
        let lines = Mutex<[String]>([])
        func write(_ line: String) { lines.withLock { $0.append(line) } }
        func take() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }
    }

    private struct Sender: CreditWaiter {
        let name: String
        let log: Log
        var target: AttributeHandle?
        var isCancelled = false

        func grant() -> Bool {
            log.write(isCancelled ? "\(name) is gone" : name)
            return !isCancelled
        }

        func fail(_ error: BluetoothError) { log.write("\(name): \(error)") }
    }

    private let log = Log()

    private func sender(_ name: String, for target: AttributeHandle? = nil, isCancelled: Bool = false) -> Sender {
        Sender(name: name, log: log, target: target, isCancelled: isCancelled)
    }

    @Test("Credits go to the waiting senders in order, and only then to others")
    func order() {
        let line = CreditLine(count: 1)
        #expect(line.take())
        #expect(!line.take())
        for name in ["one", "two", "three"] { #expect(line.wait(sender(name)) == .waits) }
        line.add(2)
        #expect(log.take() == ["one", "two"])
        #expect(!line.take(), "the third one waits")
        line.add(2)
        #expect(log.take() == ["three"])
        #expect(line.count == 1)
        #expect(line.take())
    }

    @Test("A closed line has no credits, even if the host returns some after that")
    func creditsAfterTheEnd() {
        let line = CreditLine(count: 1)
        #expect(line.isAvailable && !line.isClosed)
        #expect(line.close().count == 1)
        line.add(2)
        #expect(!line.isAvailable && line.isClosed)
        #expect(!line.take())
        #expect(line.wait(sender("one")) == .closed)
    }

    @Test("A sender that asks while a credit is available gets it at once")
    func granted() {
        let line = CreditLine(count: 1)
        #expect(line.wait(sender("one")) == .granted)
        #expect(line.wait(sender("two")) == .waits)
        #expect(log.take() == [])
    }

    @Test("The credit of a cancelled sender goes to the next one")
    func cancelled() {
        let line = CreditLine()
        #expect(line.wait(sender("one", isCancelled: true)) == .waits)
        #expect(line.wait(sender("two")) == .waits)
        line.add(1)
        #expect(log.take() == ["one is gone", "two"])
        #expect(line.count == 0)
    }

    @Test("Writes to changed services are removed, and the others keep their places")
    func servicesChange() {
        let line = CreditLine()
        let targets: [(String, AttributeHandle?)] = [
            ("1", 0x0004), ("2", 0x0005), ("3", nil), ("4", 0x000F), ("5", 0x0010),
        ]
        for (name, target) in targets { #expect(line.wait(sender(name, for: target)) == .waits) }
        for removed in line.remove(in: 0x0005...0x000F) { removed.fail(.servicesChanged) }
        #expect(log.take() == ["2: \(BluetoothError.servicesChanged)", "4: \(BluetoothError.servicesChanged)"])
        line.add(5)
        #expect(log.take() == ["1", "3", "5"])
        #expect(line.remove(in: 0x0001...0xFFFF).isEmpty)
    }

    @Test("After closing, waiting senders fail and new ones get no credits")
    func end() {
        let line = CreditLine()
        #expect(line.wait(sender("one")) == .waits)
        let (waiters, count) = line.close()
        for waiter in waiters { waiter.fail(.adapterRemoved) }
        #expect(log.take() == ["one: \(BluetoothError.adapterRemoved)"])
        #expect(count == 0)
        #expect(line.wait(sender("two")) == .closed)
        line.add(3)
        #expect(!line.take())
        #expect(log.take() == [])
    }
}
