import Foundation

/// Properties that other objects observe, one with an observer of its own.
open class Thermometer: NSObject {
    @objc public dynamic var celsius = 20.5
    @objc public dynamic var unit: String = "°C" {
        didSet { labels.append(unit) }
    }
    @objc public dynamic var isWarm: Bool { celsius > 30 }
    private(set) var labels: [String] = []
}

public final class Display {
    private var observations: [NSKeyValueObservation] = []
    public private(set) var text = ""

    public init(_ thermometer: Thermometer) {
        observations.append(
            thermometer.observe(\.celsius, options: [.initial, .new]) { [weak self] thermometer, change in
                self?.text = "\(change.newValue ?? 0) \(thermometer.unit)"
            })
    }
}
