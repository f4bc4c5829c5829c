import Foundation
import Synchronization
import Testing

/// Attaches the packets of a test's radios to the test, if it fails: see `Trait.radioCapture`.
public struct RadioCaptureTrait: TestTrait, SuiteTrait, TestScoping {
    /// Each test of a suite has its own captures.
    public var isRecursive: Bool { true }

    /// Runs a test, and attaches the captures of its radios if an issue was recorded.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        let captures = RadioCaptures()
        let observing: IssueHandlingTrait = .compactMapIssues { issue in
            captures.noteFailure()
            return issue
        }
        do {
            try await observing.provideScope(for: test, testCase: testCase) {
                try await RadioCaptures.$current.withValue(captures) { try await function() }
            }
        } catch {
            captures.noteFailure()
            captures.attach()
            throw error
        }
        captures.attach()
    }
}

extension Trait where Self == RadioCaptureTrait {
    /// If the test fails, attaches the packets of each of its radios as a btsnoop file, for Wireshark and `ble decode`.
    ///
    ///     @Suite(.radioCapture) struct HeartRateTests { … }
    ///
    /// `swift test --attachments-path DIRECTORY` writes attachments to a directory. Without it, nothing is written.
    public static var radioCapture: Self { RadioCaptureTrait() }
}

/// The captures of the radios of a running test.
final class RadioCaptures: Sendable {
    @TaskLocal static var current: RadioCaptures?

    private let state = Mutex((captures: [PacketCapture](), hasFailed: false))

    func add(_ capture: PacketCapture) { state.withLock { $0.captures.append(capture) } }

    func noteFailure() { state.withLock { $0.hasFailed = true } }

    /// The files to attach to the test, by their names; none if it has not failed.
    var attachments: [(name: String, data: [UInt8])] {
        let (captures, hasFailed) = state.withLock { $0 }
        guard hasFailed else { return [] }
        return captures.enumerated().map { index, capture in
            (captures.count == 1 ? "radio.btsnoop" : "radio-\(index + 1).btsnoop", [UInt8](capture.data))
        }
    }

    func attach() {
        for attachment in attachments { Attachment.record(attachment.data, named: attachment.name) }
    }
}
