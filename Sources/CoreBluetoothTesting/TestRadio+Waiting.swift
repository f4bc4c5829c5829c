import BluetoothBase
import CoreBluetooth

/// The error of a test that waited too long.
public struct NothingHappened: Error, CustomStringConvertible {
    /// How long the test waited, in the radio's time.
    public let limit: Duration
    /// The call that waited, such as `HeartRateTests.swift:12`.
    public let call: String

    init(_ limit: Duration, _ call: TestCall) {
        self.limit = limit
        self.call = call.description
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
    ///
    /// An app that polls, such as one that reads a value again in each callback, never comes to rest. After 120 seconds
    /// of the radio's time, this records an issue that names the devices that are still busy, and returns. It also
    /// returns if the task is cancelled.
    public func settle(fileID: String = #fileID, line: Int = #line) async { await air.settle(TestCall(fileID, line)) }

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
            guard air.now < end else { throw NothingHappened(limit, TestCall(fileID, line)) }
            await air.step(.milliseconds(10), until: end)
        }
    }

    /// Lets time pass until a call returns, and returns its result. Use this for calls of the app. The calls of this
    /// product let time pass automatically, for up to 120 seconds. For another limit, use them in `body`.
    ///
    ///     let line = try await air.passing { await app.nextLine() }
    ///
    /// - Parameter limit: how long to wait at most, in the radio's time. The call is then cancelled.
    /// - Throws: the errors of `body`; `NothingHappened` if it does not return in time; `CancellationError`.
    public func passing<Value: Sendable>(
        atMost limit: Duration = .seconds(60), isolation: isolated (any Actor)? = #isolation,
        fileID: String = #fileID, line: Int = #line, _ body: @escaping () async throws -> Value
    ) async throws -> Value {
        // The caller's values are not used by two tasks at once: the caller is suspended until `body` has returned, and
        // `body` runs in the caller's isolation, if it has one.
        nonisolated(unsafe) let body = body
        return try await air.wait(atMost: limit, TestCall(fileID, line)) { try await body() }
    }

    /// Waits until a call returns, but only for a limited time. Returns whether it returned.
    ///
    ///     let isBack = try await air.happens(within: .seconds(10)) {
    ///         try await sensor.waitForConnection()
    ///     }
    ///     #expect(!isBack)
    ///
    /// With `.manual` time, ten seconds in which nothing happens take no real time.
    ///
    /// - Throws: the errors of `body`; `CancellationError`.
    public func happens(
        within limit: Duration, isolation: isolated (any Actor)? = #isolation, fileID: String = #fileID,
        line: Int = #line, _ body: @escaping () async throws -> Void
    ) async throws -> Bool {
        // As in `passing`.
        nonisolated(unsafe) let body = body
        let outcome: Result<Void, any Error>
        do {
            // A `NothingHappened` of another call within `body` is an error like any other.
            outcome = try await air.wait(atMost: limit, TestCall(fileID, line)) {
                do { return .success(try await body()) } catch { return .failure(error) }
            }
        } catch is NothingHappened {
            return false
        }
        try outcome.get()
        return true
    }

    /// Lets exactly this time pass, and waits until the app has processed everything that it received by then.
    public func pass(_ duration: Duration, fileID: String = #fileID, line: Int = #line) async {
        let end = air.now.advanced(by: duration)
        while air.now < end, !Task.isCancelled { await air.step(.milliseconds(100), until: end) }
        await air.calm(TestCall(fileID, line))
    }
}
