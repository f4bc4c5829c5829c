import CoreBluetooth
import UIKit

#if os(iOS)
typealias Feedback = UIImpactFeedbackGenerator
#endif

enum Reaction {
    case none
    case shake(Feedback)
}

/// Launch options, which Linux has as well, and a name of the device.
public typealias LaunchOptions = [UIApplication.LaunchOptionsKey: Any]?

func restoredCentrals(_ options: LaunchOptions) -> [String] {
    let name = UIDevice.current.name
    return (options?[UIApplication.LaunchOptionsKey.bluetoothCentrals] as? [String] ?? []) + [name]
}
