import BluetoothPlatform

extension TransportName {
    /// The environment variable that names the default transport of a program.
    public static let environmentVariable = "BLUETOOTH_TRANSPORT"

    /// The default transport: the one named by the environment variable `BLUETOOTH_TRANSPORT`, or the machine's first
    /// adapter if the variable is not set or empty.
    public static var preferred: TransportName {
        get throws(TransportNameError) {
            try preferred(inEnvironment: getenv(environmentVariable).map { String(cString: $0) })
        }
    }

    /// - Parameter value: the value of the variable; nil if it is not set.
    static func preferred(inEnvironment value: String?) throws(TransportNameError) -> TransportName {
        guard let value, !value.isEmpty else { return .hciSocket(.first) }
        return try TransportName(value)
    }
}
