import Testing
import VirtualRadio

@testable import BluetoothLE
@testable import CoreBluetooth

@Suite("Core Bluetooth: L2CAP channels", .timeLimit(.minutes(30)))
struct CoreChannelTests {
    /// What the delegate of a stream was told, on a thread with a run loop of its own.
    final class Listener: NSObject, StreamDelegate, @unchecked Sendable {
        // Unchecked: used on its thread; the recorder is for the test.
        let recorder: Recorder
        private var octets = Data()
        private let wanted: Int
        var toSend = Data()

        init(_ recorder: Recorder, wanted: Int = .max) {
            self.recorder = recorder
            self.wanted = wanted
        }

        func stream(_ stream: Stream, handle event: Stream.Event) {
            switch event {
            case .openCompleted: recorder.add("opened")
            case .endEncountered: recorder.add("end")
            case .hasBytesAvailable:
                guard let input = stream as? InputStream else { return }
                var buffer = [UInt8](repeating: 0, count: 1000)
                octets.append(contentsOf: buffer[..<input.read(&buffer, maxLength: buffer.count)])
                if octets.count >= wanted { recorder.add("received \(octets.count) \(octets.isOrdered)") }
            case .hasSpaceAvailable:
                guard let output = stream as? OutputStream, !toSend.isEmpty else { return }
                let octets = [UInt8](toSend)
                let count = output.write(octets, maxLength: octets.count)
                toSend = toSend.dropFirst(count)
                if toSend.isEmpty { recorder.add("sent") }
            default: recorder.add("event \(event.rawValue)")
            }
        }

        /// Runs a loop on which a stream is scheduled, until the stream is closed.
        func run(_ stream: Stream) {
            stream.delegate = self
            let box = Box(stream)
            Thread.detachNewThread {
                box.stream.schedule(in: .current, forMode: .default)
                box.stream.open()
                while box.stream.streamStatus != .closed, RunLoop.current.run(mode: .default, before: .distantFuture) {
                    if box.stream.streamStatus == .atEnd { box.stream.close() }
                }
            }
        }

        private struct Box: @unchecked Sendable {
            let stream: Stream
            init(_ stream: Stream) { self.stream = stream }
        }
    }

    static func octets(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0) } }

    /// A peripheral manager with a channel that a central has opened.
    private func published(
        withEncryption: Bool = false
    ) async throws -> (PeripheralScene, L2CAPChannel, CBL2CAPChannel) {
        let scene = await PeripheralScene()
        scene.manager.publishL2CAPChannel(withEncryption: withEncryption)
        await scene.recorder.expect("published channel -")
        let psm = try #require(await scene.recorder.onQueue { scene.delegate.psms.last })
        let ours = try await scene.central().openChannel(to: psm)
        await scene.recorder.skip(to: "channel -")
        let theirs = try #require(await scene.recorder.onQueue { scene.delegate.channels.last })
        return (scene, ours, theirs)
    }

    @Test(
        "Row 79: the system chooses and reports a PSM; unpublishing withdraws it and closes its channels")
    func publishing() async throws {
        let (scene, ours, theirs) = try await published()
        #expect((0x80...0xFF).contains(theirs.psm) && theirs.psm == ours.psm)
        scene.manager.publishL2CAPChannel(withEncryption: false)
        await scene.recorder.expect("published channel -")
        #expect(await scene.recorder.onQueue { scene.delegate.psms.last } == theirs.psm + 1)
        scene.manager.unpublishL2CAPChannel(theirs.psm)
        await scene.recorder.expect("unpublished channel -")
        #expect(try await ours.read() == nil)
        await #expect(throws: BluetoothError.channelRefused(.refused(.spsmNotSupported))) {
            _ = try await ours.connection.openChannel(to: theirs.psm)
        }
        scene.manager.unpublishL2CAPChannel(theirs.psm)
        await scene.recorder.expect("unpublished channel CB 0")
    }

    @Test("Rows 79, 82: a channel published with encryption refuses an unencrypted central")
    func encrypted() async throws {
        let scene = await PeripheralScene()
        scene.manager.publishL2CAPChannel(withEncryption: true)
        await scene.recorder.expect("published channel -")
        let psm = try #require(await scene.recorder.onQueue { scene.delegate.psms.last })
        let central = try await scene.central()
        await #expect(throws: BluetoothError.channelRefused(.refused(.insufficientAuthentication))) {
            _ = try await central.openChannel(to: psm)
        }
    }

    @Test("Row 80: a channel that the application does not hold is closed")
    func kept() async throws {
        let scene = await PeripheralScene()
        scene.delegate.keepsChannels = false
        scene.manager.publishL2CAPChannel(withEncryption: false)
        await scene.recorder.expect("published channel -")
        let psm = try #require(await scene.recorder.onQueue { scene.delegate.psms.last })
        let central = try await scene.central()
        do {
            let ours = try await central.openChannel(to: psm)
            #expect(try await ours.read() == nil)
        } catch {
            // It may be closed before the central's task goes on.
            #expect(error == .channelClosed(.byPeer))
        }
        await scene.recorder.skip(to: "channel -")
    }

    @Test("Row 80: a central opens a channel, or receives an error")
    func opening() async throws {
        let scene = try await CentralScene()
        let service = try await scene.peripheral.listen()
        let peripheral = try await scene.connected()
        peripheral.openL2CAPChannel(service.psm + 1)
        await scene.recorder.expect("channel CB 0")
        peripheral.openL2CAPChannel(0)
        await scene.recorder.expect("channel CB 1")
        peripheral.openL2CAPChannel(service.psm)
        await scene.recorder.expect("channel -")
        var channels = service.makeAsyncIterator()
        let theirs = try #require(try await channels.next())
        let ours = try #require(await scene.recorder.onQueue { scene.events.channels.popLast() })
        #expect(ours.psm == service.psm)
        // Row 82: the one at the other end.
        #expect(ours.peer === peripheral)
        ours.outputStream.open()
        #expect(Self.octets(3).withUnsafeBufferPointer { ours.outputStream.write($0.baseAddress!, maxLength: 3) } == 3)
        #expect(try await theirs.read() == Self.octets(3))
    }

    @Test("Row 80: a channel that the peer closed before the delegate was called delivers its data and its end")
    func closedEarly() async throws {
        let scene = try await CentralScene()
        let service = try await scene.peripheral.listen()
        let peripheral = try await scene.connected()
        scene.recorder.queue.suspend()
        peripheral.openL2CAPChannel(service.psm)
        var channels = service.makeAsyncIterator()
        let theirs = try #require(try await channels.next())
        try await theirs.write(Self.octets(3))
        try await theirs.close()
        scene.recorder.queue.resume()
        await scene.recorder.expect("channel -")
        let ours = try #require(await scene.recorder.onQueue { scene.events.channels.popLast() })
        let input = Listener(Recorder("input"), wanted: 3)
        input.run(ours.inputStream)
        for line in ["opened", "received 3 true", "end"] { await input.recorder.expect(line) }
    }

    @Test("Row 81: a stream returns as many octets as the buffer takes, regardless of SDU boundaries")
    func readInParts() async throws {
        let (scene, ours, _) = try await published()
        let attachment = try #require(scene.manager.attachment)
        let pipe = ChannelPipe(ours.stream.id, ours.stream.link, ours.information, attachment)
        #expect(!pipe.reading.isReady)
        let octets = Self.octets(9)
        pipe.receive(octets.span.extracting(0..<3), share: 247)
        pipe.receive(octets.span.extracting(3..<9), share: 247)
        var buffer = [UInt8](repeating: 0xFF, count: 8)
        #expect(pipe.read(into: &buffer, atMost: 0) == 0)
        #expect(pipe.read(into: &buffer, atMost: 5) == 5)
        #expect(Array(buffer[..<5]) == Array(octets[..<5]))
        #expect(pipe.read(into: &buffer, atMost: 8) == 4)
        #expect(Array(buffer[..<4]) == Array(octets[5...]))
        #expect(!pipe.reading.isReady)
    }

    @Test("A closed stream stays at its end when the host returns credits of the octets that it still sends")
    func creditsAfterTheEnd() async throws {
        let (scene, ours, _) = try await published()
        let attachment = try #require(scene.manager.attachment)
        let pipe = ChannelPipe(ours.stream.id, ours.stream.link, ours.information, attachment)
        #expect(pipe.writing == (true, false))
        pipe.end()
        pipe.give(1)
        #expect(pipe.writing == (false, true))
    }

    @Test("What is read in parts takes the same share of the window as what was received", arguments: 1...12)
    func shares(limit: Int) {
        var unread = UnreadOctets(), shares = 0, read: [UInt8] = []
        let octets = Self.octets(9)
        unread.append(octets.span.extracting(0..<3), share: 247)
        unread.append(octets.span.extracting(3..<9), share: 248)
        var buffer = [UInt8](repeating: 0xFF, count: limit)
        while !unread.isEmpty {
            let (count, share) = unread.read(into: &buffer, atMost: limit)
            #expect(share > 0)
            read += buffer[..<count]
            shares += share
        }
        #expect(read == octets)
        #expect(shares == 495)
    }

    @Test("Row 82: the peer of a published channel is the central")
    func peer() async throws {
        let (scene, _, theirs) = try await published()
        defer { withExtendedLifetime(scene) {} }
        #expect(theirs.peer is CBCentral)
    }

    @Test("Row 81: streams arrive unopened, and call their delegate on the run loop they are scheduled on")
    func streams() async throws {
        let (scene, ours, theirs) = try await published()
        defer { withExtendedLifetime(scene) {} }
        #expect(theirs.inputStream.streamStatus == .notOpen && theirs.outputStream.streamStatus == .notOpen)
        var buffer: [UInt8] = [0]
        #expect(theirs.inputStream.read(&buffer, maxLength: 1) == -1)
        let input = Listener(Recorder("input"), wanted: 20_000)
        input.run(theirs.inputStream)
        await input.recorder.expect("opened")
        try await ours.write(Self.octets(20_000))
        await input.recorder.expect("received 20000 true")
        let output = Listener(Recorder("output"))
        output.toSend = Data(Self.octets(20_000))
        output.run(theirs.outputStream)
        await output.recorder.expect("opened")
        var received: [UInt8] = []
        while received.count < 20_000, let more = try await ours.read() { received += more }
        #expect(received == Self.octets(20_000))
        await output.recorder.expect("sent")
        // The end of the link ends both.
        try await ours.connection.disconnect()
        await input.recorder.expect("end")
        await output.recorder.expect("end")
        #expect(theirs.inputStream.streamStatus == .closed || theirs.inputStream.streamStatus == .atEnd)
    }

    /// A delegate that runs its loop in the callback for the first octet, until it has the second one.
    final class NestingListener: NSObject, StreamDelegate, @unchecked Sendable {
        // Unchecked: used on its thread; the recorder is for the test.
        let recorder = Recorder("input")
        private var octets: [UInt8] = []

        func stream(_ stream: Stream, handle event: Stream.Event) {
            guard event == .hasBytesAvailable, let input = stream as? InputStream else { return }
            var buffer: [UInt8] = [0]
            guard input.read(&buffer, maxLength: 1) == 1 else { return }
            octets += buffer
            recorder.add("read \(octets)")
            guard octets.count == 1 else { return input.close() }
            // It ends when the stream is closed, and so no longer scheduled.
            _ = RunLoop.current.run(mode: .default, before: .distantFuture)
            recorder.add("returned")
        }
    }

    @Test("A delegate that runs its loop in a callback receives the events of new data there")
    func nested() async throws {
        let (scene, ours, theirs) = try await published()
        defer { withExtendedLifetime(scene) {} }
        let listener = NestingListener()
        theirs.inputStream.delegate = listener
        let input = UncheckedStream(theirs.inputStream)
        Thread.detachNewThread {
            input.stream.schedule(in: .current, forMode: .default)
            input.stream.open()
            _ = RunLoop.current.run(mode: .default, before: .distantFuture)
        }
        try await ours.write([1])
        await listener.recorder.expect("read [1]")
        try await ours.write([2])
        await listener.recorder.expect("read [1, 2]")
        await listener.recorder.expect("returned")
    }

    private struct UncheckedStream: @unchecked Sendable {
        // Unchecked: the stream is used on one thread.
        let stream: Stream
        init(_ stream: Stream) { self.stream = stream }
    }
}

extension Data {
    /// Whether its octets count up.
    fileprivate var isOrdered: Bool { elementsEqual(CoreChannelTests.octets(count)) }
}
