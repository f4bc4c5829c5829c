import BluetoothBase
import BluetoothGAP
import BluetoothHost

/// The benchmarks of a central.
enum Central {
    static func receiveNotifications(_ count: Int, length: Int, isEncrypted: Bool = false) -> Int {
        let laboratory = Laboratory(isBonded: isEncrypted)
        let packet = Packets.att(0x1B, laboratory.value, Array(repeating: 7, count: length))
        var host = laboratory.world.hosts[Laboratory.central], sum = 0
        for _ in 0..<count {
            host.receive(packet.span, at: laboratory.now)
            drain(&host.events) { value in sum += value.count }
        }
        precondition(sum == count * length)
        return sum
    }

    /// The application checks each report for a service and reads its transmit power.
    static func receiveAdvertisingReports(_ count: Int) -> Int {
        var host = Laboratory().world.hosts[Laboratory.central], sum = 0
        let now = Instant.zero, service: BluetoothUUID = "180F"
        try? host.startScanning(ScanParameters(), at: now)
        let packet = Packets.advertisingReport
        for _ in 0..<count {
            host.receive(packet.span, at: now)
            drain(&host.events) { advertisement in
                let view = ADView(advertisement)
                sum += view.contains(serviceUUID: service) ? Int(view.txPowerLevel ?? 0) : 0
            }
        }
        precondition(sum == count * 4)
        return sum
    }
}
