import BluetoothGATT

extension Host {
    /// The services every device has (Core 5.4, Vol 3, Part C, 12 and Part G, 7).
    mutating func publishOwnServices() {
        // The database is empty, and both are well formed: neither can be refused.
        _ = try? server.database.add(.genericAccess(deviceName: configuration.deviceName))
        _ = try? server.database.add(.genericAttribute())
    }
}
