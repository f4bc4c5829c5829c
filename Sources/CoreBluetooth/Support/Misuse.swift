import Logging

/// The line that Apple's framework writes where it ignores a call.
func reportMisuse(_ what: @autoclosure () -> String) {
    BluetoothEnvironment.logger.error("API MISUSE: \(what())")
}

/// A line about something that failed where no callback can tell.
func reportFailure(_ what: @autoclosure () -> String) {
    BluetoothEnvironment.logger.error("\(what())")
}
