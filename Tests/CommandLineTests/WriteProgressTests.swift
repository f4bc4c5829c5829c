import BluetoothGATT
import BluetoothLE
import Testing

@testable import ble
@testable import BluetoothCommandLine

/// `ble write`: the values that are known to have been written.
struct WriteProgressTests {
    private static func attribute(_ handle: UInt16) -> SelectedAttribute {
        AttributeSelector.handle(AttributeHandle(handle)).attributes(in: DiscoveredDatabase())[0]
    }

    @Test("A value sent without response counts as written when the device answers afterwards")
    func confirmed() {
        var progress = WriteProgress()
        progress.sent(Self.attribute(3), [1])
        #expect(progress.doneCount == 1 && progress.needsConfirmation)
        progress.confirm()
        progress.linkEnded()
        #expect(!progress.needsConfirmation && progress.failure == nil)
    }

    @Test("The answer to a later write confirms what was sent before it")
    func confirmedByWrite() {
        var progress = WriteProgress()
        progress.sent(Self.attribute(3), [1])
        progress.finish(Self.attribute(5), [2])
        progress.linkEnded()
        #expect(progress.doneCount == 2 && progress.failure == nil)
    }

    @Test("A value is reported as unknown if the link ends before the device has answered")
    func lost() throws {
        var progress = WriteProgress()
        progress.sent(Self.attribute(3), [1])
        progress.linkEnded()
        // The value is not sent again.
        #expect(progress.doneCount == 1 && !progress.needsConfirmation)
        progress.sent(Self.attribute(5), [2])
        progress.confirm()
        let failure = try #require(progress.failure)
        #expect(failure.status == .linkLost)
        #expect(failure.message?.hasPrefix("0x0003: sent without response, and the device did not answer") == true)
        #expect(failure.message?.contains("0x0005") == false)
    }
}
