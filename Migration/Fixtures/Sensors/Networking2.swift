import CoreBluetooth

protocol Uploading {
    func request(for peripheral: CBPeripheral) -> URLRequest
}
