import BluetoothBase
import CoreBluetooth

/// The error of a test that waited too long.
public struct NothingHappened: Error, CustomStringConvertible {
    /// How long the test waited, in the radio's time.
    public let limit: Duration
    /// The call that waited, such as `HeartRateTests.swift:12`.
    public let call: String

    init(_ limit: Duration, _ fileID: String, _ line: Int) {
        self.limit = limit
        call = "\(fileID.split(separator: "/").last ?? ""):\(line)"
    }

    /// The error in words.
    public var description: String { "\(call): what the test waits for did not happen within \(limit)" }
}

extension TestRadio {
    /// Waits until everything that was sent over links has arrived, and the app's delegates have been called for it.
    /// The same holds for everything that the app and the devices do in response. Then a test can check the state of
    /// the app.
    ///
    ///     try await sensor.simulateValueUpdate(Data([0, 72]), for: "2A37")
    ///     await air.settle()
    ///     #expect(app.beatsPerMinute == 72)
    ///
    /// When this returns, no packet is queued on either side or in transit, no request is waiting for its response, and
    /// no callback is waiting for the app's queue. This does not depend on timing. It does not wait for actions that
    /// may take any time: an advertisement being received, a connection being established, a link being lost, a
    /// `VirtualPeripheralDelegate` callback for an event that needs no response, or a task of the app. For those, use
    /// `wait(atMost:until:)`, or a `waitFor…` call of a peripheral.
    ///
    /// With `.manual` time, this advances the radio's time until everything has arrived. A response may come late, or
    /// never; a stack gives up after 30 seconds. If the app's queue is blocked, this waits until the queue continues.
    public func settle() async { await air.settle() }

    /// Waits until a condition holds. It is checked whenever the app has processed everything that it received.
    ///
    ///     try await air.wait { app.isConnected }
    ///
    /// - Parameter limit: how long to wait at most, in the radio's time.
    /// - Throws: the errors of `condition`; `NothingHappened` if it does not hold in time; `CancellationError`.
    public func wait(
        atMost limit: Duration = .seconds(60), isolation: isolated (any Actor)? = #isolation,
        fileID: String = #fileID, line: Int = #line, until condition: () throws -> Bool
    ) async throws {
        let end = air.now.advanced(by: limit)
        while true {
            await air.deliver()
            if try condition() { return }
            try Task.checkCancellation()
            guard air.now < end else { throw NothingHappened(limit, fileID, line) }
            await air.step(.milliseconds(10), until: end)
        }
    }

    /// Lets time pass until a call returns, and returns its result. Use this for calls of the app. The calls of this
    /// product let time pass automatically.
    ///
    ///     let line = try await air.passing { await app.nextLine() }
    ///
    /// - Parameter limit: how long to wait at most, in the radio's time. The call is then cancelled.
    /// - Throws: the errors of `body`; `NothingHappened` if it does not return in time; `CancellationError`.
    public func passing<Value: Sendable>(
        atMost limit: Duration = .seconds(60), fileID: String = #fileID, line: Int = #line,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await air.wait(atMost: limit, fileID, line, for: body)
    }

    /// Waits until a call returns, but only for a limited time. Returns whether it returned.
    ///
    ///     let isBack = await air.happens(within: .seconds(10)) {
    ///         try await sensor.waitForConnection()
    ///     }
    ///     #expect(!isBack)
    ///
    /// With `.manual` time, ten seconds in which nothing happens take no real time.
    public func happens(within limit: Duration, _ body: @escaping @Sendable () async throws -> Void) async -> Bool {
        do {
            try await air.wait(atMost: limit, #fileID, #line, for: body)
            return true
        } catch {
            return false
        }
    }

    /// Lets exactly this time pass, and waits until the app has processed everything that it received by then.
    public func pass(_ duration: Duration) async {
        let end = air.now.advanced(by: duration)
        while air.now < end, !Task.isCancelled { await air.step(.milliseconds(100), until: end) }
        await air.calm()
    }
}
