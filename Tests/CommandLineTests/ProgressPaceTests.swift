import Testing

@testable import BluetoothCommandLine

@Suite("How often progress is shown")
struct ProgressPaceTests {
    @Test("in a log, each time the number has doubled")
    func log() {
        var pace = ProgressPace(showsEverything: false)
        let shown = stride(from: 20, through: 1000, by: 20).filter { pace.isDue(at: $0) }
        #expect(shown == [20, 40, 80, 160, 320, 640])
    }

    @Test("on a terminal, with every chunk")
    func terminal() {
        var pace = ProgressPace(showsEverything: true)
        let shown = stride(from: 20, through: 100, by: 20).filter { pace.isDue(at: $0) }
        #expect(shown == [20, 40, 60, 80, 100])
    }
}
