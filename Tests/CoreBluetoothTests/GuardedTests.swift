import Dispatch
import Testing
import VirtualRadio

@testable import CoreBluetooth

@Suite("State shared between threads", .timeLimit(.minutes(30)))
struct GuardedTests {
    private final class Holder {
        @Guarded var ending: Ending?
    }

    /// Looks at where it is held when it ends.
    private final class Ending {
        unowned let holder: Holder
        let end: () -> Void

        init(in holder: Holder, end: @escaping () -> Void) {
            self.holder = holder
            self.end = end
        }

        deinit { if holder.ending == nil { end() } }
    }

    @Test("An object released by a guarded property may read that property")
    func release() {
        var isOver = false
        let holder = Holder()
        holder.ending = Ending(in: holder) { isOver = true }
        holder.ending = nil
        #expect(isOver)
    }

    private final class Delegate: NSObject, CBPeripheralManagerDelegate {
        func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
    }

    @Test("A delegate is set and released while another thread reads it")
    func delegate() {
        let stage = Stage()
        let queue = DispatchQueue(label: "peripheral manager")
        let manager = stage.with(stage.radio.addController()) { CBPeripheralManager(delegate: nil, queue: queue) }
        DispatchQueue.concurrentPerform(iterations: 2) { side in
            for _ in 0..<20_000 {
                if side == 0 {
                    let delegate = Delegate()
                    manager.delegate = delegate
                    #expect(manager.delegate === delegate)
                } else {
                    _ = manager.delegate?.hash
                }
            }
        }
        #expect(manager.delegate == nil)
    }
}
