import BluetoothATT
import BluetoothBase
import BluetoothGATT

// The words used in documents, shared by decoding and encoding.

extension DeviceDocument {
    static let format = "bluetooth-device"
    static let version: Int64 = 1

    static let properties: [(String, GATTCharacteristicProperties)] = [
        ("broadcast", .broadcast), ("read", .read), ("writeWithoutResponse", .writeWithoutResponse), ("write", .write),
        ("notify", .notify), ("indicate", .indicate), ("authenticatedSignedWrites", .authenticatedSignedWrites),
        ("extendedProperties", .extendedProperties),
    ]

    static let requirements: [(String, GATTPermissions.Requirement)] = [
        ("notAllowed", .notAllowed), ("open", .open), ("encrypted", .encrypted), ("authenticated", .authenticated),
        ("authenticatedSecureConnections", .authenticatedSecureConnections),
    ]

    static let kinds: [(String, Bool)] = [("primary", true), ("secondary", false)]

    static let origins: [(String, Notification.Origin)] = [
        ("subscription", .subscription), ("connection", .connection),
    ]

    /// The errors that have names, such as "insufficientAuthentication".
    static let errors: [(String, ATTErrorCode)] = (1...0xFF as ClosedRange<UInt8>).compactMap { code in
        let code = ATTErrorCode(rawValue: code)
        guard let name = code.name else { return nil }
        let words = name.split(separator: " ")
        return (
            words[0].lowercased() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(), code
        )
    }
}

extension Array {
    /// Returns the word for a value.
    func word<Value: Equatable>(for value: Value?) -> String? where Element == (String, Value) {
        first { $0.1 == value }?.0
    }
}
