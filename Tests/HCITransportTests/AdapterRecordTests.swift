import BluetoothBase
import BluetoothPlatform
import CBluetoothHCI
import Dispatch
import Synchronization
import Testing

@testable import HCITransport

/// Adapters are returned in their original state, whatever happens in between.
struct AdapterRecordTests {
    private let directory = Directory()
    private var path: String { AdapterRecord.path(for: hci0, in: directory.path) }

    @Test("while an adapter is taken, its original state is recorded", arguments: [true, false])
    func note(wasUp: Bool) throws {
        let kernel = FakeKernel(adapters: [wasUp ? hci0 : hci0.with(.down)], records: directory)
        let transport = try kernel.open()
        #expect(path == directory.file("swift-bluetooth-le.00AA01000042"))
        #expect(contents(of: path) == Array((wasUp ? "up\n" : "down\n").utf8))
        var status = stat()
        stat(path, &status)
        #expect(status.st_mode & 0o777 == 0o600)
        transport.close()
        #expect(!exists(path))
    }

    @Test("an adapter without an address is recorded under its number")
    func withoutAddress() {
        #expect(AdapterRecord.path(for: AdapterInformation(index: 3), in: "/d") == "/d/swift-bluetooth-le.hci3")
    }

    @Test("after a crash, the next program restores the adapter to up", arguments: [UInt16(0), 5])
    func crash(index: UInt16) throws {
        // What a killed program leaves: a record that is not locked, and an adapter that is down.
        try write("up\n")
        var adapter = hci0.with(.down)
        // It may have another number by now.
        adapter.index = index
        let kernel = FakeKernel(adapters: [adapter], records: directory)
        let transport = try kernel.open(.index(index))
        #expect(!kernel.calls.contains("down \(index)"))
        #expect(contents(of: path) == Array("up\n".utf8))
        transport.close()
        #expect(kernel.calls.contains("up \(index)"))
        #expect(!exists(path))
    }

    @Test(
        "after a crash, an adapter that was found down stays down", arguments: ["down\n", "", "upper\n"])
    func crashFoundDown(text: String) throws {
        try write(text)
        let kernel = FakeKernel(adapters: [hci0.with(.down)], records: directory)
        try kernel.open().close()
        #expect(!kernel.calls.contains("up 0"))
        #expect(!exists(path))
    }

    @Test(
        "if opening fails early, the crash record of an adapter that was up is kept for the next program",
        arguments: [("up\n", true), ("down\n", false), (nil, false)])
    func openingFails(left: String?, isKept: Bool) throws {
        if let left { try write(left) }
        let kernel = FakeKernel(adapters: [hci0.with(.down)], records: directory) { $0.failing["bind 0"] = EPERM }
        #expect(throws: TransportError.self) { try kernel.open() }
        #expect(!kernel.calls.contains("up 0"))
        #expect(exists(path) == isKept)
    }

    @Test(
        "the record of an adapter that cannot be brought up is kept for the next program, unless it was removed",
        arguments: [(EPERM, true), (ETIMEDOUT, true), (ERFKILL, true), (ENODEV, false)])
    func restoringFails(code: Int32, isKept: Bool) throws {
        let kernel = FakeKernel(records: directory) { $0.failing["up 0"] = code }
        try kernel.open().close()
        #expect(kernel.calls.contains("up 0"))
        #expect(exists(path) == isKept)
    }

    @Test("an adapter that took over the number of an unplugged one is left alone", arguments: [true, false])
    func renumbered(isReplaced: Bool) throws {
        let kernel = FakeKernel(records: directory)
        let transport = try kernel.open()
        kernel.state.withLock { state in
            state.held = []
            state.adapters = []
            if isReplaced {
                var other = hci2.with(.down)
                other.index = 0
                state.adapters = [other]
            }
        }
        transport.close()
        #expect(!kernel.calls.contains("up 0"))
        #expect(!exists(path))
    }

    @Test("closing waits for the adapter to come up, but not forever", .timeLimit(.minutes(30)))
    func slowController() throws {
        let release = DispatchSemaphore(value: 0)
        let kernel = FakeKernel(records: directory, bringingUp: { release.wait() })
        let control = try AdapterControl(name: "hci-socket:0", calls: kernel.adapterCalls)
        let transport = try TakenAdapter.open(
            hci0, control: control, socketCalls: kernel.socketCalls, timeout: .milliseconds(1))
        // It would hang here, because nothing else lets the controller continue.
        transport.close()
        #expect(!kernel.calls.contains("up 0"))
        // If the process ended now, the next one would need the record.
        #expect(contents(of: path) == Array("up\n".utf8))
        // In the meantime others are told that the adapter is still held.
        let reason = reason { () throws(TransportError) in _ = try kernel.open() }
        #expect(reason == .adapterHeld(by: AdapterHolder(running: getpid())))
        let note = open(path, O_RDWR | O_CLOEXEC)
        release.signal()
        // Not locked any more: the adapter has been returned.
        flock(note, LOCK_EX)
        close(note)
        #expect(kernel.calls.contains("up 0"))
        #expect(!exists(path))
    }

    @Test("the holder of the adapter is reported, also to other programs")
    func holder() throws {
        let kernel = FakeKernel(records: directory)
        let transport = try kernel.open()
        let us = AdapterHolder(running: getpid())
        #expect(us.program?.isEmpty == false)
        #expect(try HCIAdapter.list(calls: kernel.adapterCalls) == [hci0.with(.held(by: us))])
        #expect(reason { () throws(TransportError) in _ = try kernel.open() } == .adapterHeld(by: us))
        transport.close()
        #expect(try HCIAdapter.list(calls: kernel.adapterCalls) == [hci0])
        // An unlocked record has no holder.
        try write("up\n")
        #expect(AdapterRecord.holder(of: hci0, in: [directory.path]) == nil)
    }

    @Test("files that others may have placed are neither used nor changed", arguments: Trap.allCases)
    func traps(trap: Trap) throws {
        let target = directory.file("target")
        try write("up\n", to: target)
        switch trap {
        case .symbolicLink: symlink(target, path)
        case .hardLink: link(target, path)
        case .fifo: mkfifo(path, 0o600)
        case .directory: mkdir(path, 0o700)
        }
        let kernel = FakeKernel(adapters: [hci0.with(.down)], records: directory)
        try kernel.open().close()
        #expect(!kernel.calls.contains("up 0"))
        #expect(contents(of: target) == Array("up\n".utf8))
        #expect(exists(path))
        rmdir(path)
    }

    enum Trap: CaseIterable { case symbolicLink, hardLink, fifo, directory }

    @Test("the second directory is used if the first is not writable")
    func secondDirectory() throws {
        let record = try AdapterRecord.make(for: hci0, in: ["/nowhere", directory.path])
        #expect(exists(path))
        record?.remove()
        #expect(try AdapterRecord.make(for: hci0, in: ["/nowhere"]) == nil)
    }

    private func write(_ text: String, to path: String? = nil) throws {
        let descriptor = open(path ?? self.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        #expect(BluetoothPlatform.write(descriptor, text, text.utf8.count) == text.utf8.count)
    }
}
