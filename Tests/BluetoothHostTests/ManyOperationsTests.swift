import BluetoothGATT
import BluetoothHost
import BluetoothSimulation
import Testing

@Suite("Many operations on a link")
struct ManyOperationsTests {
    @Test("4,096 operations can wait, one more is rejected, and each ends once with the link")
    func bound() throws {
        var scene = try ServingTests.Scene()
        let central = scene.pair.central
        for _ in 0...4096 { try scene.start(.read(scene.value)) }
        #expect(throws: HostError.client(.tooManyOperations)) { try scene.start(.read(scene.value)) }
        // The first is answered, and so the next one takes its turn and another one has room.
        let asked = scene.nextRequest()
        let request = try #require(asked).request
        let value: [UInt8] = [7]
        try scene.world.hosts[scene.pair.peripheral].answer(request, value: value.span)
        guard case .completed(_, .value([7]))? = scene.nextEnd() else {
            Issue.record("the first read did not end")
            return
        }
        try scene.start(.read(scene.value))
        try scene.world.hosts[central].disconnect(scene.pair.centralLink, at: scene.world.now)
        scene.world.run(for: .seconds(1))
        var ended: Set<GATTClient.OperationID> = []
        for seen in scene.world.seen[central] {
            guard case .client(_, .operationEnded(.failed(let operation, .disconnected))) = seen.event else { continue }
            #expect(ended.insert(operation).inserted)
        }
        #expect(ended.count == 4097)
    }
}
