import BluetoothATT
import BluetoothBase
import BluetoothGATT
import Testing

@testable import BluetoothSimulation

@Suite("The expected result of an operation")
struct ExpectedEndTests {
    private typealias End = Result<GATTClientResult, GATTClientError>

    private func rule(
        _ end: End, expecting result: ExpectedEnd.Result = .any, refusal: ATTErrorCode? = nil,
        possible: Set<ATTErrorCode> = [], mtu: Int = 23
    ) -> Violation.Rule? {
        ExpectedEnd(peer: 1, epoch: 0, refusal: refusal, possible: possible, result: result)
            .finding(end, mtu: mtu)?.rule
    }

    private func failure(_ code: ATTErrorCode) -> End { .failure(.att(ATTError(code, for: .readRequest, at: 3))) }

    @Test("Forbidden operations are refused, and permitted ones are not")
    func refusals() {
        #expect(rule(failure(.readNotPermitted), refusal: .readNotPermitted) == nil)
        #expect(rule(failure(.writeNotPermitted), refusal: .readNotPermitted) == .expected)
        #expect(rule(.success(.value([1])), refusal: .readNotPermitted) == .permission)
        #expect(rule(failure(.readNotPermitted)) == .expected)
        #expect(rule(failure(.unlikelyError), possible: [.unlikelyError]) == nil)
        #expect(rule(.failure(.invalidResponse(.echoMismatch))) == .expected)
        #expect(rule(.failure(.cancelled)) == nil)
        #expect(rule(.success(.written)) == nil)
    }

    @Test("A value is complete, or as long as a response can be")
    func values() {
        let whole = [UInt8](0..<100)
        #expect(rule(.success(.value(whole)), expecting: .value(whole)) == nil)
        #expect(rule(.success(.value(Array(whole.dropLast()))), expecting: .value(whole)) == .expected)
        for (count, isRight) in [(21, false), (22, true), (23, false), (63, true), (64, false), (100, false)] {
            let end = End.success(.value(Array(whole.prefix(count))))
            #expect((rule(end, expecting: .beginning(whole), mtu: 64) == nil) == isRight)
        }
        let typed: [(AttributeHandle, Int, Bool)] = [(3, 19, true), (3, 60, true), (4, 60, false), (3, 61, false)]
        for (handle, count, isRight) in typed {
            let value = AttributeValue(handle: handle, value: Array(whole.prefix(count)))
            #expect((rule(.success(.values([value])), expecting: .typed(3, whole), mtu: 64) == nil) == isRight)
            #expect(rule(.success(.values([value, value])), expecting: .typed(3, whole), mtu: 64) == .expected)
        }
    }

    @Test("A read of several values returns the first ones, each complete")
    func several() {
        let known = AttributeValue(handle: 3, value: [1, 2])
        let other = AttributeValue(handle: 5, value: [7])
        let short = AttributeValue(handle: 3, value: [1])
        let expected = ExpectedEnd.Result.several([3, 5, 3], [[1, 2], nil, [1, 2]])
        for count in 0...3 {
            #expect(rule(.success(.values(Array([known, other, known].prefix(count)))), expecting: expected) == nil)
        }
        for wrong in [[other], [known, other, short], [known, other, known, known]] {
            #expect(rule(.success(.values(wrong)), expecting: expected) == .expected)
        }
        #expect(rule(.success(.written), expecting: expected) == .expected)
    }
}
