import BluetoothPlatform

extension TransportName {
    /// The environment variable that names the transport where a program was told of none.
    public static let environmentVariable = "BLUETOOTH_TRANSPORT"

    /// The transport for a program that was told of none: what `BLUETOOTH_TRANSPORT` in the environment names, else the
    /// machine's first adapter.
    public static var preferred: TransportName {
        get throws(TransportNameError) {
            try preferred(inEnvironment: getenv(environmentVariable).map { String(cString: $0) })
        }
    }

    /// - Parameter value: that of the variable; nil where it is not set.
    static func preferred(inEnvironment value: String?) throws(TransportNameError) -> TransportName {
        guard let value, !value.isEmpty else { return .hciSocket(.first) }
        return try TransportName(value)
    }
}
