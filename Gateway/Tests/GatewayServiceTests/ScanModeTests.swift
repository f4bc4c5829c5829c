import Testing
@testable import GatewayService

/// How adapters scan.
@Suite struct ScanModeTests {
    @Test(arguments: [true, false]) func wishes(configured: Bool) {
        let mode = ScanMode(isActive: configured)
        #expect(mode.isActive == configured)
        mode.wish(!configured)
        #expect(mode.isActive == !configured)
        #expect(mode.isActiveByConfiguration == configured)
        mode.wish(nil)
        #expect(mode.isActive == configured)
    }
}
