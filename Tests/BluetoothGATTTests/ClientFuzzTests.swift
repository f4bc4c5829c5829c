import BluetoothATT
import BluetoothBase
import BluetoothGATT
import TestSupport
import Testing

@Suite("GATT client: random peers")
struct ClientFuzzTests {
    /// Some response to `request`: often of the right shape, seldom right.
    private func response(to request: [UInt8], from generator: inout SeededGenerator) -> [UInt8] {
        switch UInt8.random(in: 0..<16, using: &generator) {
        case 0:
            return [0x01, request[0], 0, 0, [0x0A, 0x0A, 0x07, 0x0E].randomElement(using: &generator) ?? 0x0A]
        case 1:
            return (0..<Int.random(in: 0..<40, using: &generator)).map { _ in .random(in: 0...255, using: &generator) }
        default: break
        }
        // The header of the list, the length of an element, and where in it the handle to move on from stands.
        let (header, length): ([UInt8], Int) =
            switch request[0] {
            case 0x04: Bool.random(using: &generator) ? ([0x01], 4) : ([0x02], 18)
            case 0x06: ([], 4)
            case 0x08:
                [([7], 7), ([21], 21), ([8], 8), ([6], 6)].randomElement(using: &generator) ?? ([7], 7)
            case 0x10: Bool.random(using: &generator) ? ([6], 6) : ([20], 20)
            default: ([], Int.random(in: 0..<30, using: &generator))
            }
        var response = [request[0] + 1] + header
        var handle = request.count > 2 ? UInt16(request[1]) | UInt16(request[2]) << 8 : 0
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            handle &+= UInt16.random(in: 0...3, using: &generator)
            var element: [UInt8] = (0..<length).map { _ in .random(in: 0...255, using: &generator) }
            if element.count >= 2 { element.replaceSubrange(0..<2, with: [UInt8(handle & 0xFF), UInt8(handle >> 8)]) }
            let reach = handle &+ UInt16.random(in: 0...3, using: &generator)
            let position = request[0] == 0x08 && length != 8 && length != 6 ? 3 : 2
            if element.count >= 5 {
                element.replaceSubrange(position..<position + 2, with: [UInt8(reach & 0xFF), UInt8(reach >> 8)])
            }
            if [0x06, 0x10].contains(request[0]) { handle = reach }
            handle &+= 1
            response += element
        }
        return response
    }

    @Test("100,000 responses: every operation ends exactly once, and none runs forever")
    func everyOperationEnds() throws {
        var generator = SeededGenerator(seed: 1)
        var responses = 0, completed = 0, failed = 0
        while responses < 100_000 {
            let mtu = [23, 64, 517].randomElement(using: &generator) ?? 23
            var harness = ClientHarness(mtu: mtu)
            let operation = ClientQueueTests.operations.randomElement(using: &generator) ?? .read(1)
            let started = try harness.start(operation)
            var sent = started.sent
            var steps = 0
            while !sent.isEmpty {
                guard sent.count <= mtu, steps < 100_000 else {
                    Issue.record("\(operation) sent \(sent.hexadecimal()) after \(steps) responses")
                    return
                }
                let answer = response(to: sent, from: &generator)
                let next = harness.receive(answer)
                // What the client ignored it still waits for: an error ends that.
                if next.isEmpty, harness.client.events.isEmpty {
                    sent = harness.receive([0x01, sent[0], 0, 0, 0x0E])
                } else {
                    sent = next
                }
                steps += 1
            }
            responses += steps + 1
            let events = harness.takeEvents()
            guard events.count == 1, harness.client.pendingCount == 0 else {
                Issue.record("\(operation) ended with \(events)")
                return
            }
            switch events[0] {
            case .completed(let id, let result):
                guard id == started.id, isOrdered(result) else {
                    Issue.record("\(operation) gave \(result)")
                    return
                }
                completed += 1
            case .failed(let id, _):
                #expect(id == started.id)
                failed += 1
            }
        }
        // A generator that only ever leads to one of them would test little.
        #expect(completed > 1000 && failed > 1000)
    }

    /// Whether a result keeps what callers rely on: the order of handles, and ends that are not before starts.
    private func isOrdered(_ result: GATTClientResult) -> Bool {
        switch result {
        case .services(let found): increasing(found.flatMap { [$0.startHandle, $0.endHandle] })
        case .includes(let found):
            increasing(found.map(\.declarationHandle)) && found.allSatisfy { $0.startHandle <= $0.endHandle }
        case .characteristics(let found):
            increasing(found.map(\.declarationHandle))
                && found.allSatisfy { $0.declarationHandle < $0.valueHandle && $0.valueHandle <= $0.endHandle }
        case .descriptors(let found): increasing(found.map(\.handle))
        case .values(let values): values.count < 0x10000
        case .database(let found):
            isOrdered(.services(found.services)) && isOrdered(.includes(found.includes))
                && isOrdered(.characteristics(found.characteristics)) && isOrdered(.descriptors(found.descriptors))
                && found.services.map { found.characteristics(of: $0).count }.reduce(0, +)
                    == found.characteristics.count
                && found.characteristics.map { found.descriptors(of: $0).count }.reduce(0, +)
                    == found.descriptors.count
        case .value(let value): value.count <= 517
        case .mtu, .written: true
        }
    }

    private func increasing(_ handles: [AttributeHandle]) -> Bool {
        zip(handles, handles.dropFirst()).allSatisfy { $0 <= $1 }
    }
}
