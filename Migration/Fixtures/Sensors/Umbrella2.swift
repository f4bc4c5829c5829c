// Only its neighbors import what it uses.

extension CBCharacteristic {
    var isReadable: Bool { properties.contains(.read) }
}
