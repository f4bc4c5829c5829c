import BluetoothSMP
import DBus
import Testing

@testable import BusService

@Suite struct BookkeepingTests {
    @Test(arguments: [
        ("", IOCapability.keyboardDisplay), ("DisplayOnly", .displayOnly), ("DisplayYesNo", .displayYesNo),
        ("KeyboardOnly", .keyboardOnly), ("NoInputNoOutput", .noInputNoOutput), ("Telepathy", nil),
    ])
    func `the capability of an agent has BlueZ's names`(_ name: String, _ capability: IOCapability?) {
        #expect(AgentRegistry.capability(name) == capability)
    }

    @Test func `timers that are due fire in order, and cancelled ones do not`() {
        let timers = Timers()
        var fired: [Int] = []
        timers.schedule(after: .zero) { fired.append(1) }
        let cancelled = timers.schedule(after: .zero) { fired.append(2) }
        timers.schedule(after: .zero) { fired.append(3) }
        timers.schedule(after: .seconds(1000)) { fired.append(4) }
        timers.cancel(cancelled)
        timers.fire()
        #expect(fired == [1, 3])
        #expect(timers.deadline != nil)
    }

    @Test func `a timer can cancel one that is due with it`() {
        let timers = Timers()
        var fired = 0
        var second: Timers.ID?
        timers.schedule(after: .zero) { timers.cancel(second) }
        second = timers.schedule(after: .zero) { fired += 1 }
        timers.fire()
        #expect(fired == 0)
    }

    private static let options: [(DBusValue, offset: Int, type: ValueOptions.WriteType?)] = [
        (.variants([("offset", .uint16(3)), ("TYPE", .string("Command"))]), 3, .command),
        (.variants([("device", .string("x"))]), 0, nil), (.variants([("type", .string("request"))]), 0, .request),
    ]

    @Test(arguments: 0..<options.count)
    func `options are read without regard to case`(_ index: Int) throws {
        let options = try ValueOptions(Self.options[index].0)
        #expect(Int(options.offset) == Self.options[index].offset)
        #expect(options.type == Self.options[index].type)
    }

    @Test func `options of the wrong type are refused, and an unknown type is noticed`() throws {
        #expect(throws: BusError.invalidArguments) { try ValueOptions(.variants([("offset", .string("3"))])) }
        #expect(throws: BusError.invalidArguments) { try ValueOptions(.variants([("type", .byte(3))])) }
        #expect(try ValueOptions(.variants([("type", .string("shout"))])).isTypeUnknown)
    }
}
