// delivery COUNT     how many notifications a second reach an application over a virtual radio in this process: through the
//                    asynchronous API, and through the delegate of a `CBPeripheral`
//
// Both are in the same process, with the same peripheral at the other end, and take turns; the best of three counts.
import BluetoothLE
import CoreBluetooth
import VirtualRadio

let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 100_000
let service: BluetoothUUID = "E07F0AE8-00BB-47F5-94F4-4A7174EA3032"
let value: BluetoothUUID = "F001"

// Time passes as fast as it can be made to, so that the air is not what is measured.
let radio = VirtualRadio(time: .manual)
let clock = Task.detached { [radio] in
    while !Task.isCancelled { await radio.advance(by: .milliseconds(20)) }
}

let peripheral = try await Adapter.open(radio.addController())
let published = try await peripheral.publish(
    GATTServiceDefinition(uuid: service, characteristics: [.init(uuid: value, properties: .notify)]))
try await peripheral.advertise(AdvertisementData())
let address = await peripheral.information!.address

/// Sends so many values to whoever is subscribed, and says how many a second arrived by the end of `body`.
func rate(_ body: () async throws -> Void) async throws -> Int {
    let subscribers = await published.characteristics[0].subscribers
    guard let subscriber = subscribers.first, subscribers.count == 1 else { fatalError("nobody has subscribed") }
    let clock = ContinuousClock()
    let start = clock.now
    async let sent: Void = {
        for number in 0..<count {
            try await subscriber.notify(
                withUnsafeBytes(of: UInt32(number)) { Array($0) } + [UInt8](repeating: 0, count: 16))
        }
    }()
    try await body()
    try await sent
    return Int(Double(count) / (clock.now - start).seconds)
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

/// The rate of the asynchronous API.
func asynchronous() async throws -> Int {
    let central = try await Adapter.open(radio.addController())
    let connection = try await central.connect(to: address)
    let values = try await connection.notifications(of: try await connection.characteristic(value, in: service))
    let rate = try await rate {
        var next = 0
        for try await value in values {
            guard value[0] == UInt8(truncatingIfNeeded: next) else { fatalError("out of order") }
            next += 1
            if next == count { break }
        }
    }
    try await connection.disconnect()
    return rate
}

/// What an application does to be told.
final class Monitor: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    private var peripheral: CBPeripheral?
    private var next = 0
    let steps = AsyncStream<String>.makeStream()

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        central.scanForPeripherals(withServices: nil)
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi: NSNumber
    ) {
        guard self.peripheral == nil else { return }
        self.peripheral = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices([CBUUID(string: "E07F0AE8-00BB-47F5-94F4-4A7174EA3032")])
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        for characteristic in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: characteristic) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        steps.continuation.yield("subscribed")
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        guard characteristic.value?.first == UInt8(truncatingIfNeeded: next) else { fatalError("out of order") }
        next += 1
        if next == count { steps.continuation.yield("done") }
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        steps.continuation.yield("disconnected")
    }

    func cancel(_ manager: CBCentralManager) {
        if let peripheral { manager.cancelPeripheralConnection(peripheral) }
    }
}

/// The rate of a delegate.
func delegated() async throws -> Int {
    let monitor = Monitor()
    let queue = DispatchQueue(label: "application")
    let manager = BluetoothEnvironment.with(transport: BluetoothTransport(radio.addController())) {
        CBCentralManager(delegate: monitor, queue: queue)
    }
    var steps = monitor.steps.stream.makeAsyncIterator()
    guard await steps.next() == "subscribed" else { fatalError("it went another way") }
    let rate = try await rate { _ = await steps.next() }
    queue.sync { monitor.cancel(manager) }
    _ = await steps.next()
    return rate
}

var rates: [(Int, Int)] = []
for _ in 0..<3 { rates.append((try await asynchronous(), try await delegated())) }
print(rates.map(\.0).max() ?? 0, rates.map(\.1).max() ?? 0)
