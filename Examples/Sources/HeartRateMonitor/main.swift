import Combine
import CoreBluetooth

// In place of an app's views: print a line whenever a value changes.
setlinebuf(stdout)
let manager = HeartRateManager()
let subscriptions = [
    manager.$status.removeDuplicates().sink { print($0) },
    manager.$heartRate.compactMap { $0 }.sink { print("\($0) beats per minute") },
    manager.$batteryLevel.compactMap { $0 }.removeDuplicates().sink { print("battery at \($0) %") },
]
let termination = Termination { manager.stop() }
RunLoop.main.run()
