import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// The benchmarks of a peripheral.
///
/// Its controller has 255 buffers, which a single Number Of Completed Packets event can return. The cost of that event
/// is measured separately and is negligible in the other benchmarks.
enum Peripheral {
    private static let buffers: UInt8 = 255

    static func notify(_ count: Int, length: Int, completing completed: Int) -> Int {
        let laboratory = Laboratory(buffers: buffers)
        var host = laboratory.world.hosts[Laboratory.peripheral], sum = 0
        let handle = laboratory.value, link = laboratory.link(Laboratory.peripheral)
        let value = [UInt8](repeating: 7, count: length), event = Packets.completed(completed)
        for index in 1...count {
            guard (try? host.notify(handle, value: value.span, on: link)) == true else { fatalError("refused") }
            sum += drain(&host.outbox)
            if index % completed == 0 { host.receive(event.span, at: laboratory.now) }
        }
        precondition(sum == count * (12 + length))
        return sum
    }

    static func answerReads(_ count: Int, among attributes: Int) -> Int {
        let laboratory = Laboratory(attributes: attributes, buffers: buffers)
        let packet = Packets.att(0x0A, laboratory.value), event = Packets.completed(Int(buffers))
        var host = laboratory.world.hosts[Laboratory.peripheral], sum = 0
        for index in 1...count {
            host.receive(packet.span, at: laboratory.now)
            sum += drain(&host.outbox)
            if index % Int(buffers) == 0 { host.receive(event.span, at: laboratory.now) }
        }
        precondition(sum == count * (10 + 20))
        return sum
    }

    static func handleWriteCommands(_ count: Int) -> Int {
        let laboratory = Laboratory()
        let packet = Packets.att(0x52, laboratory.value, Array(repeating: 7, count: 20))
        var host = laboratory.world.hosts[Laboratory.peripheral], sum = 0
        for _ in 0..<count {
            host.receive(packet.span, at: laboratory.now)
            drain(&host.events) { value in sum += value.count }
        }
        precondition(sum == count * 20)
        return sum
    }

    /// Withdraws a service and publishes it again at the same handle, for each service in turn.
    static func replaceServices(_ count: Int, among services: Int) -> Int {
        let laboratory = Laboratory()
        var host = laboratory.world.hosts[Laboratory.peripheral], sum = 0
        let characteristic = GATTCharacteristicDefinition(uuid: "2A19", properties: .read, value: .constant([1]))
        let definition = GATTServiceDefinition(uuid: "180F", characteristics: [characteristic, characteristic])
        do {
            let handles = try (0..<services).map { _ in
                try host.addService(definition, at: laboratory.now).declaration
            }
            for index in 0..<count {
                // The step has no divisor in common with the number of services, so every service gets its turn.
                let handle = handles[index * 37 % services]
                try host.removeService(handle, at: laboratory.now)
                sum += Int(try host.addService(definition, handle: handle, at: laboratory.now).declaration.rawValue)
            }
        } catch {
            fatalError("\(error)")
        }
        return sum
    }
}
