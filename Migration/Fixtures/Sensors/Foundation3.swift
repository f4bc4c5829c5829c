import CoreBluetooth

/// Text for people.
struct Report {
    let services: [CBService]
    let size: Int

    var names: String { ListFormatter.localizedString(byJoining: services.map(\.uuid.uuidString)) }

    var amount: String {
        Measurement(value: Double(size), unit: UnitInformationStorage.bytes).formatted(.byteCount(style: .file))
    }

    var count: String { services.count.formatted() }

    func log(_ error: Error?) { NSLog("%d services: %@", services.count, error as! CVarArg) }
}
