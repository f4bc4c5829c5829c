import Logging

/// Logs the line that Apple's framework logs when it ignores a call.
func reportMisuse(_ what: @autoclosure () -> String) {
    BluetoothEnvironment.logger.error("API MISUSE: \(what())")
}

/// Logs a failure that no callback can report.
func reportFailure(_ what: @autoclosure () -> String) {
    BluetoothEnvironment.logger.error("\(what())")
}
